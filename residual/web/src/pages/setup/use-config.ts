import { memberOf } from '../../../../../shared/member.ts';
import { call } from '../../api/client.ts';
import { mustRestart } from '../../parts/restart.tsx';
import { useAsk } from '../../parts/use-ask.ts';

/** One value of the config. @returns undefined while it is not known */
export function useConfig(section: string, name: string): unknown {
  const { data } = useAsk('config.get');
  return memberOf(data?.[section], name);
}

/** Stores one; what has to restart is offered above the step. @throws Refused */
export async function setConfig(key: string, value: unknown): Promise<void> {
  const { restart_required: restarts } = await call('config.put', { body: { key, value } });
  mustRestart(restarts);
}
