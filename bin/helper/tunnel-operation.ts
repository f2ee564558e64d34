import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../shared/errors.ts';
import type { TunnelBound } from '../../shared/rpc/helper.ts';
import type { Run } from './find-program.ts';

const PROGRAM_MS = 3000;
/**
 * How soon TCP sends again what the radio has lost. The kernel's least is 200 ms, ten times what a round trip takes here. Above the
 * 40 ms for which the other end may hold an acknowledgement back (TCP_DELACK_MIN of Linux), so that nothing is sent twice in vain.
 */
const RETRANSMIT_MS = 60;

/**
 * Bounds what a tunnel device sends, and shares it fairly between connections, so that a sparse one waits for no download: htb(8)
 * with fq_codel(8). What is lost in it is sent again soon: `rto_min` of ip-route(8).
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
  const tc = async (args: readonly string[]): Promise<unknown> => run('tc', args, PROGRAM_MS);
  // htb takes no change: what a run of the node before this one has set goes first.
  await tc(['qdisc', 'del', 'dev', device, 'root']).catch(() => undefined); // there is none on a new device
  await tc(['qdisc', 'add', 'dev', device, 'root', 'handle', '1:', 'htb', 'default', '10']);
  const htb = ['htb', 'rate', rate, 'ceil', rate];
  await tc(['class', 'replace', 'dev', device, 'parent', '1:', 'classid', '1:10', ...htb]);
  const fair = await tc(['qdisc', 'replace', 'dev', device, 'parent', '1:10', 'fq_codel']).then(
    () => true,
    () => false, // a kernel without it; the bound holds all the same, and the caller says what is missing
  );
  const quick = await sendAgainSoon(run, device).catch(() => false); // the same
  return { done: true, fair, quick };
}

/** Changes the route that the kernel has made for the tunnel's address. @returns false if there is none */
async function sendAgainSoon(run: Run, device: string): Promise<boolean> {
  const routes = await run('ip', ['-4', 'route', 'show', 'dev', device, 'proto', 'kernel'], PROGRAM_MS);
  const [, network, address] = /^([\d.]+\/\d+) .*\bsrc ([\d.]+)/m.exec(routes) ?? [];
  if (network === undefined || address === undefined) return false;
  const route = [network, 'dev', device, 'proto', 'kernel', 'scope', 'link', 'src', address];
  await run('ip', ['-4', 'route', 'change', ...route, 'rto_min', `${RETRANSMIT_MS}ms`], PROGRAM_MS);
  return true;
}
