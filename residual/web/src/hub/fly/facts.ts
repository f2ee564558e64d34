import { useCallback, useEffect, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { type Readiness, readinessOf } from '../../../../../shared/flight/readiness.ts';
import { type JsonObject, listOf, memberOf, recordOf } from '../../../../../shared/member.ts';
import { Refused } from '../../api/client.ts';
import { callNode } from './calls.ts';
import { type BrowserKey, findKey, lacksKeys } from './keys.ts';

/** What a node itself says, by calls: whom it lets fly, and what of the vehicle is not in the fleet's telemetry. */

const VEHICLE_MS = 5000;

/** What this browser may do on a node; null: not known. */
export interface Facts {
  /** This browser's operator key; null: it has none. */
  readonly key: BrowserKey | null;
  /** Under which name the node lists it; `undefined`: not at all. */
  readonly listedAs: string | null | undefined;
  /** `fleet.scopes` of the node. */
  readonly scopes: readonly string[] | null;
  /** The whole of GET /api/telemetry, a few seconds old. */
  readonly vehicle: JsonObject | null;
  /** Why the node could not be asked. */
  readonly error: Refused | null;
  readonly reload: () => void;
}

export function useFacts(entry: NodeEntry): Facts {
  const [facts, setFacts] = useState<Omit<Facts, 'reload'>>({
    key: null,
    listedAs: null,
    scopes: null,
    vehicle: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  const { id, online } = entry;
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (news: Partial<Facts>): void => {
      if (!over) setFacts((before) => ({ ...before, ...news }));
    };
    const ask = async (work: () => Promise<Partial<Facts>>): Promise<void> => {
      try {
        change({ ...(await work()), error: null });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        change({ error });
      }
    };
    const vehicle = async (): Promise<void> => {
      if (!document.hidden)
        await ask(async () => ({
          vehicle: recordOf(await callNode(entry, { method: 'GET', path: '/api/telemetry' })),
        }));
      if (!over) timer = setTimeout(() => void vehicle(), VEHICLE_MS);
    };
    const begin = async (): Promise<void> => {
      const key = lacksKeys() === null ? await findKey('operator') : null;
      change({ key });
      if (!online) return;
      await ask(async () => {
        const { operators, scopes } = recordOf(
          memberOf(await callNode(entry, { method: 'GET', path: '/api/config' }), 'fleet'),
        );
        const lines = listOf(operators).map((line) => String(line).split(' '));
        return {
          listedAs: lines.find(([, x]) => key !== null && x === key.jwk.x)?.[0],
          scopes: listOf(scopes).map(String),
        };
      });
      await vehicle();
    };
    void begin();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [id, online, round]);
  return { ...facts, reload: useCallback(() => setRound((n) => n + 1), []) };
}

/** What speaks against arming, and what takes it away; null: not known, or nothing to say while it is armed. */
export function readiness({ vehicle }: Pick<Facts, 'vehicle'>): Readiness | null {
  return vehicle === null ? null : readinessOf(vehicle);
}
