import type { FromSchema } from 'json-schema-to-ts';
import type { fleetDocument } from '../../../shared/schemas/fleet.ts';
import { NodeCommand } from '../../node-command.ts';

type Fleet = FromSchema<typeof fleetDocument>;

export default class FleetStatusCommand extends NodeCommand {
  static override summary = 'Show the fleet of the node, and how far behind its hub is.';
  static override examples = ['<%= config.bin %> fleet status', '<%= config.bin %> fleet status --json'];

  async run(): Promise<Fleet> {
    await this.parse(FleetStatusCommand);
    const fleet = (await this.api('GET', '/api/fleet')) as Fleet;
    const { enrollment, link, peers } = fleet;
    if (enrollment.enrolled) {
      this.log(`fleet        ${enrollment.fleet ?? ''} as ${enrollment.node ?? ''}`);
      this.log(`hub          ${enrollment.hub ?? ''}`);
      this.log(`broker       ${enrollment.broker ?? ''}`);
      this.log(
        `certificate  valid to ${day(enrollment.certificate_valid_to)}, renewed from ${day(enrollment.certificate_renews_at)}`,
      );
    } else this.log('In no fleet.');
    if (enrollment.problem !== null) this.log(`problem      ${enrollment.problem}`);
    if (link !== null) this.#showLink(link);
    for (const { device_id: id, name, profile } of peers) this.log(`by radio     ${id} ${name} (${profile})`);
    return fleet;
  }

  #showLink(link: NonNullable<Fleet['link']>): void {
    this.log(`connection   ${link.connected ? 'there' : (link.problem ?? 'not there')}`);
    const { events_behind: behind, oldest_event_at: since, events_dropped: dropped } = link;
    if (behind === null) return;
    this.log(
      `events       ${behind === 0 ? 'the hub has them all' : `${behind} behind${since === null ? '' : `, since ${new Date(since).toISOString()}`}`}`,
    );
    if (dropped !== null && dropped > 0) this.log(`             ${dropped} lost: the queue was full`);
  }
}

function day(at: number | null): string {
  return at === null ? 'unknown' : new Date(at).toISOString().slice(0, 10);
}
