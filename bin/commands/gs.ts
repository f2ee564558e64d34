import { requestCommand } from '../cli/request-command.ts';
import GsDronesCommand from './gs/drones.ts';
import GsRecordingCommand from './gs/recording.ts';

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
