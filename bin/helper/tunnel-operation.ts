import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../shared/errors.ts';
import type { TunnelBound } from '../../shared/rpc/helper.ts';
import type { Run } from './find-program.ts';

const TC_MS = 3000;

/**
 * Bounds what a tunnel device sends, and shares it fairly between connections, so that a sparse one waits for no download: htb(8)
 * with fq_codel(8).
 * @param sys `/sys`
 * @throws ApiError E_INVALID_VALUE for a device that is no tunnel, E_NOT_IMPLEMENTED without `tc`, E_UPSTREAM
 */
export async function boundTunnel(
  run: Run,
  sys: string,
  { device, kbps }: { readonly device: string; readonly kbps: number },
): Promise<TunnelBound> {
  // Only a device that a program has made with /dev/net/tun: nobody's Ethernet is slowed down.
  await access(join(sys, 'class/net', device, 'tun_flags')).catch(() => {
    throw new ApiError('E_INVALID_VALUE', `${device} is no tunnel device.`);
  });
  const rate = `${kbps}kbit`;
  await run('tc', ['qdisc', 'replace', 'dev', device, 'root', 'handle', '1:', 'htb', 'default', '10'], TC_MS);
  await run(
    'tc',
    ['class', 'replace', 'dev', device, 'parent', '1:', 'classid', '1:10', 'htb', 'rate', rate, 'ceil', rate],
    TC_MS,
  );
  const fair = await run('tc', ['qdisc', 'replace', 'dev', device, 'parent', '1:10', 'fq_codel'], TC_MS).then(
    () => true,
    () => false, // a kernel without it; the bound holds all the same, and the caller says what is missing
  );
  return { done: true, fair };
}
