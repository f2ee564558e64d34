import { readFileSync } from 'node:fs';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { isLoopback } from '../loopback.ts';
import { type Settings, UsageError } from '../settings.ts';
import { openCallerKeys } from './caller-keys.ts';
import { FleetPlane } from './fleet-plane.ts';
import { HubError, type HubPlace, hubUrl } from './hub.ts';
import { HubSession } from './hub-session.ts';

const LIST_MS = 20_000;

/** The nodes of a hub. @throws UsageError with a sentence: settings, keys on disk, a hub that is away or refuses */
export async function openFleet(
  { token, gcs, cloudUrl, mqttUrl, hubCa, keysDir }: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<FleetPlane> {
  if (token?.startsWith('svc_mc_') !== true)
    throw new UsageError('--target fleet needs a machine credential of the hub (svc_mc_…) in SVC_MCP_TOKEN.');
  try {
    if (mqttUrl !== null) checkBroker(mqttUrl);
    const ca = hubCa === null ? undefined : readFileSync(hubCa, 'utf8');
    const hub: HubPlace = { url: hubUrl(gcs, cloudUrl), ca, credential: token };
    const keys = await openCallerKeys(keysDir, hub.url, token);
    const [now, wall] = [(): number => performance.now(), Date.now];
    const session = await HubSession.open({ hub, keys, now, wall, log }).catch((error: unknown) => {
      keys.release();
      throw error;
    });
    const operator = operatorFiles(env);
    const plane = new FleetPlane({ hub, session, brokerUrl: mqttUrl, operator, now, wall, log });
    plane.start();
    await within(
      plane.listed,
      LIST_MS,
      () => new HubError(null, `The hub ${hub.url} does not list its nodes.`),
    ).catch((error: unknown) => {
      plane.stop();
      throw error;
    });
    return plane;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** @throws Error for an address that would carry calls in the clear over a network */
function checkBroker(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  if (protocol === 'mqtts:' || protocol === 'wss:' || (protocol === 'mqtt:' && isLoopback(hostname))) return;
  throw new Error(`${url}: the broker's address is mqtts://host:port, or wss://host:port/path.`);
}
