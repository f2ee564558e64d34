import { Args, Flags } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

class GsDronesCommand extends NodeCommand {
  static override summary = 'List the drones of the ground station, or choose the active one.';
  static override description =
    'The ground station flies and shows the active drone; the others are reached with --via. A change restarts svc-link and svc-video.';
  static override examples = ['<%= config.bin %> gs drones', '<%= config.bin %> gs drones --use 3fa2b1'];
  static override flags = {
    use: Flags.string({ summary: 'the drone that is the active one from now on', helpValue: 'DEVICE' }),
    force: Flags.boolean({ summary: 'also while the active drone is armed, or its state unknown' }),
  };

  async run(): Promise<Answer<'ground-station.drones.get'>> {
    const { use, force } = (await this.parse(GsDronesCommand)).flags;
    const answer =
      use === undefined
        ? await this.call('GET /api/v1/ground-station/drones')
        : await this.call('PUT /api/v1/ground-station/drones/active', { body: { device_id: use, force } });
    for (const { slot, device_id: id, name, link, last_seen: seen } of answer.drones) {
      const mark = id === answer.active ? '*' : ' ';
      this.log(
        `${mark} slot ${slot}  ${id} ${name}  link ${link ?? 'not known'}  last seen ${seen ?? 'never'}`,
      );
    }
    if (answer.drones.length === 0) this.log('No drone is bound. Bind one with: svc radio pair HOST');
    return answer;
  }
}

class GsRecordingCommand extends NodeCommand {
  static override summary = 'List the recordings of the received video, or start or stop one.';
  static override examples = ['<%= config.bin %> gs recording', '<%= config.bin %> gs recording start'];
  static override args = { action: Args.string({ description: 'what to do', options: ['start', 'stop'] }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(GsRecordingCommand);
    if (args.action === 'start') {
      const started = await this.call('POST /api/v1/ground-station/recording/start', { body: {} });
      this.log(`Recording to ${started.name}`);
      return started;
    }
    if (args.action === 'stop') {
      const stopped = await this.call('POST /api/v1/ground-station/recording/stop');
      this.log(`${stopped.files.join(', ')}: ${stopped.duration_seconds} s, ${stopped.size_bytes} bytes`);
      return stopped;
    }
    const list = await this.call('GET /api/v1/ground-station/recording');
    this.log(
      list.current === null ? 'Nothing is recorded at the moment.' : `Recording to ${list.current.name}`,
    );
    const rows = list.recordings.map(({ name, size_bytes: size, modified_at: at }) => [name, size, at]);
    for (const line of tableOf(['NAME', 'BYTES', 'WRITTEN'], rows)) this.log(line);
    return list;
  }
}

export default {
  'gs:status': requestCommand('GET /api/v1/ground-station/status', {
    summary: 'Show the ground station: its drones, its clients, its pilot, its video.',
    examples: ['gs status'],
    *lines({ paired_drones: drones, relay, active, link, gcs, recording, role, system }) {
      for (const { slot, device_id: id, name, key_fingerprint: fingerprint, proved } of drones)
        yield `drone      ${id} ${name}, slot ${slot}${id === active ? ', active' : ''}, ${fingerprint}${proved ? '' : ', not proved yet'}`;
      if (drones.length === 0) yield 'drone      none; bind one with: svc radio pair HOST';
      for (const { device_id: id, silent_ms: silent, latency_ms: latency } of relay)
        yield `relay      ${id}: ${silent === null ? 'no answer yet' : `last answer ${(silent / 1000).toFixed(1)} s ago`}${latency === null ? '' : `, ${latency} ms`}`;
      yield `link       ${typeof link?.['state'] === 'string' ? link['state'] : 'not known'}`;
      yield `clients    ${gcs.clients?.length ?? 'not known'}`;
      yield `pilot      ${gcs.pic.claimed_by ?? 'nobody'}`;
      yield `recording  ${recording === null ? 'not known' : recording ? 'yes' : 'no'}`;
      yield `role       ${role.role}${role.configured === role.role ? '' : `, configured ${role.configured}`}`;
      yield `version    ${system.agent_version}, up ${system.uptime_seconds} s`;
    },
  }),
  'gs:drones': GsDronesCommand,
  'gs:pic': requestCommand('GET /api/v1/ground-station/pic', {
    summary: 'Show who is pilot in command.',
    examples: ['gs pic'],
    lines: ({ claimed_by: pilot, by, claimed_at: since }) => [
      pilot === null
        ? 'Nobody is pilot in command.'
        : `${pilot} is pilot in command, by ${by ?? 'unknown'} since ${since ?? 'unknown'}.`,
    ],
  }),
  'gs:recording': GsRecordingCommand,
};
