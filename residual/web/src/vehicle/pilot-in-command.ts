import { computed, effect, signal } from '@preact/signals';
import { call, Refused } from '../api/client.ts';
import { clientId, credential } from '../api/credential.ts';
import { entry, info } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import type { Answer } from '../api/rows.ts';
import { Stream } from '../api/socket.ts';
import { say } from '../parts/toast.tsx';
import { t } from '../strings.ts';

/**
 * The pilot in command of this ground station. Once claimed it stays with this page whatever it shows, by a heartbeat every 2 s; a page
 * that is closed, or asleep in the background, loses it after 5 s, as nobody looks at it then.
 */

const HEARTBEAT_MS = 2000;

export type Pilot = Answer<'ground-station.pic.get'>;

/** As the ground station last said; null before that, and on a drone. */
export const pilot = signal<Pilot | null>(null);

// In memory alone; it dies with the credential that claimed it.
const secret = signal<string | null>(null);

export const iAmPilot = computed(() => secret.value !== null && pilot.value?.claimed_by === clientId);

/** @param takeOver also from another client @throws Refused */
export async function claim(takeOver: boolean): Promise<void> {
  const { secret: given, ...state } = await call('ground-station.pic.claim.post', {
    body: { client_id: clientId, ...(takeOver ? { take_over: true } : {}) },
    here: true,
  });
  pilot.value = state;
  secret.value = given;
}

/** @throws Refused */
export async function release(): Promise<void> {
  secret.value = null;
  pilot.value = await call('ground-station.pic.release.post', { body: { client_id: clientId }, here: true });
}

async function heartbeat(held: string): Promise<void> {
  try {
    await call('ground-station.pic.heartbeat.post', {
      body: { client_id: clientId, secret: held },
      here: true,
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // Without an answer it may still count: the next one tries again.
    if (error.status === 0 || secret.value !== held) return;
    secret.value = null;
    say(t.ground.pilot.lost({ why: error.message }), 'warn');
  }
}

effect(() => {
  const held = secret.value;
  if (held === null) return;
  const timer = setInterval(() => void heartbeat(held), HEARTBEAT_MS);
  return () => clearInterval(timer);
});

effect(() => {
  void credential.value;
  secret.value = null;
});

// Its own value, so that the stream stays open while a drone behind this ground station is looked at.
const onGround = computed(
  () => entry.value.state === 'in' && (relayed.value !== null || info.value?.profile === 'ground-station'),
);

effect(() => {
  void credential.value;
  pilot.value = null;
  if (!onGround.value) return;
  const stream = new Stream(
    'ground-station.pic.events.ws',
    (text) => {
      const {
        event: _,
        client_id: __,
        ...state
      } = JSON.parse(text) as Pilot & {
        event: string;
        client_id: string | null;
      };
      pilot.value = state;
    },
    { ask: { here: true }, silenceMs: null },
  );
  return () => stream.stop();
});
