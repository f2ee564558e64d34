import { Args } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { operatorsCommands } from './fleet/operators.ts';

type Link = NonNullable<Answer<'fleet.get'>['link']>;

class FleetEnrollCommand extends NodeCommand {
  static override summary = 'Join a fleet: the hub may then say who calls this node.';
  static override description =
    'The hub makes the code, for one node and once. The node compares the authority of the hub with the code before it sends anything. Whoever holds a credential of the fleet may then ask for what fleet.scopes allows; flight and destructive calls need an operator of this node too: svc fleet operators.';
  static override examples = [
    '<%= config.bin %> fleet enroll https://hub.example:8193 svc1-3f…-9a…',
    '<%= config.bin %> fleet enroll http://127.0.0.1:8190 svc1-3f…-9a…',
  ];
  static override args = {
    hub: Args.string({
      description: 'its address; plain http only for a hub on the same machine',
      required: true,
    }),
    code: Args.string({ description: 'as the hub prints it', required: true }),
  };

  async run(): Promise<Answer<'fleet.enroll.post'>> {
    const { args } = await this.parse(FleetEnrollCommand);
    const answer = await this.call('POST /api/fleet/enroll', { body: args });
    const { paired } = await this.call('GET /api/pairing/info');
    if (!paired)
      this.warn(
        'This node is not paired, so it answers no call of the fleet yet, and whoever is near may still make it theirs. Pair it: svc pair',
      );
    this.log(`Enrolled with ${answer.fleet ?? ''} as ${answer.node ?? ''}. The connection: svc fleet status`);
    return answer;
  }
}

export default {
  'fleet:status': requestCommand('GET /api/fleet', {
    summary: 'Show the fleet of the node, and how far behind its hub is.',
    examples: ['fleet status', 'fleet status --json'],
    *lines({ enrollment, link, peers }) {
      if (enrollment.enrolled) {
        yield `fleet        ${enrollment.fleet ?? ''} as ${enrollment.node ?? ''}`;
        yield `hub          ${enrollment.hub ?? ''}`;
        yield `broker       ${[enrollment.broker, enrollment.broker_ws].filter((url) => url !== null).join(' or ')}`;
        yield `certificate  valid to ${day(enrollment.certificate_valid_to)}, renewed from ${day(enrollment.certificate_renews_at)}`;
      } else yield 'In no fleet.';
      if (enrollment.problem !== null) yield `problem      ${enrollment.problem}`;
      if (link !== null) yield* linkLines(link);
      for (const { device_id: id, name, profile } of peers) yield `by radio     ${id} ${name} (${profile})`;
    },
  }),
  'fleet:enroll': FleetEnrollCommand,
  'fleet:leave': requestCommand('DELETE /api/fleet/enrollment', {
    summary: 'Leave the fleet, also while its hub is away.',
    description:
      'Removes the keys, the certificate and the events that the hub has not stored yet. The hub still lists the node until it is removed there.',
    examples: ['fleet leave'],
    lines: ({ fleet }) => [fleet === null ? 'Enrolment removed.' : `Left ${fleet}.`],
  }),
  ...operatorsCommands,
};

function* linkLines(link: Link): Iterable<string> {
  yield `connection   ${link.connected ? `by ${link.via ?? 'the broker'}` : (link.problem ?? 'not there')}`;
  const { events_behind: behind, oldest_event_at: since, events_dropped: dropped } = link;
  if (behind === null) return;
  const from = since === null ? '' : `, since ${new Date(since).toISOString()}`;
  yield `events       ${behind === 0 ? 'the hub has them all' : `${behind} behind${from}`}`;
  if (dropped !== null && dropped > 0) yield `             ${dropped} lost: the queue was full`;
}

function day(at: number | null): string {
  return at === null ? 'unknown' : new Date(at).toISOString().slice(0, 10);
}
