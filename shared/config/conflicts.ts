import { nearRefusal } from '../auth/asked-address.ts';
import { parseRtkSource } from '../schemas/addresses.ts';
import { OFF_BY_PROFILE } from './features.ts';
import type { Config } from './schema.ts';

/** Keys that forbid each other, and why, for the sentence about either. */
interface Conflict {
  readonly keys: readonly string[];
  readonly reason: string;
}

/**
 * Members that are right by themselves, and together mean nothing or cannot be started with. Who writes such a key is told; a file that
 * has one already, of an older version or by hand, is no reason to fly by defaults.
 */
export function conflictsIn({ agent, features, radio, rtk, upload, security }: Config): readonly Conflict[] {
  const conflicts: Conflict[] = [];
  for (const feature of OFF_BY_PROFILE[agent.profile])
    if (features[feature] === true)
      conflicts.push({
        keys: [`features.${feature}`, 'agent.profile'],
        reason: `features.${feature} is nothing that a node of the profile ${agent.profile} can do: it has to be false or left out`,
      });
  if (features.core === false)
    conflicts.push({
      keys: ['features.core'],
      reason: 'the core cannot be switched off: status, configuration and the way back are part of it',
    });
  if (radio.fec_k > radio.fec_n)
    conflicts.push({
      keys: ['radio.fec_k', 'radio.fec_n'],
      reason: `radio.fec_k (${radio.fec_k}) is more packets with video than the block of radio.fec_n (${radio.fec_n}) has`,
    });
  for (const { keys, host } of hostsAsked({ rtk, upload })) {
    const reason = nearRefusal(host, security.near_hosts);
    if (reason !== null) conflicts.push({ keys, reason });
  }
  return conflicts;
}

/** The hosts that the node connects to for whoever may write these keys. */
function hostsAsked({
  rtk,
  upload,
}: Pick<Config, 'rtk' | 'upload'>): readonly (Pick<Conflict, 'keys'> & { readonly host: string })[] {
  const source = parseRtkSource(rtk.source);
  const store = URL.parse(upload.endpoint);
  return [
    ...(source?.kind === 'tcp' ? [{ keys: ['rtk.source'], host: source.host }] : []),
    ...(rtk.ntrip.host === '' ? [] : [{ keys: ['rtk.ntrip.host'], host: rtk.ntrip.host }]),
    ...(store === null ? [] : [{ keys: ['upload.endpoint'], host: store.hostname }]),
  ];
}
