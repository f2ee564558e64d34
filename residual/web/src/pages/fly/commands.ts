import { effect, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { CommandName } from '../../../../../shared/flight/command-catalogue.ts';
import { type Readiness, readinessOf } from '../../../../../shared/flight/readiness.ts';
import { call, Refused } from '../../api/client.ts';
import { clientId, credential } from '../../api/credential.ts';
import { isGround } from '../../api/node.ts';
import { relayed } from '../../api/relay.ts';
import type { Answer } from '../../api/rows.ts';
import { steady } from '../../api/steady.ts';
import { armed, flight, fresh, isAwaited } from '../../api/telemetry.ts';
import { place } from '../../app/route.ts';
import { ALWAYS, type Commands, type Order } from '../../commands/orders.ts';
import { farText, refusedText } from '../../commands/refused-text.ts';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { isSilent } from '../../vehicle/vehicle-state.ts';
import { target } from './map/state.ts';

/** Commands to the vehicle: whether one can be given now, giving it, and what the vehicle said to it. */

const PILOT_MS = 2000;
/** Pass whoever is pilot in command. */
const PASS_PILOT: ReadonlySet<CommandName> = new Set(['disarm', 'land', 'rtl', 'stop']);
const WANTS_ARMED: ReadonlySet<CommandName> = new Set([
  'disarm',
  'land',
  'rtl',
  'stop',
  'goto',
  'pauseMission',
  'resumeMission',
]);

/** After these it no longer goes where it was sent. */
const ELSEWHERE: ReadonlySet<CommandName> = new Set([
  'land',
  'rtl',
  'stop',
  'mode',
  'missionStart',
  'resumeMission',
  'goto',
  'orbit',
]);

/** Kept while the page is open: what the vehicle answered must not be lost by looking at another page. */
const state = signal<Pick<Commands, 'running' | 'outcome'>>({ running: null, outcome: null });

let newestRun = 0;

// Another vehicle has answered nothing yet.
effect(() => {
  void relayed.value;
  newestRun++;
  state.value = { running: null, outcome: null };
});

/** Whether it would arm, while it is not armed; null: not known. */
export const readiness = steady<Readiness | null>(() =>
  armed.value === false ? fresh('heartbeat', readinessOf) : null,
);

/** The pilot in command, if it is somebody else; only a ground station has one. */
export function useOtherPilot(): string | null {
  const pic = useAsk('ground-station.pic.get', {}, isGround.value ? PILOT_MS : null);
  const who = isGround.value ? (pic.data?.claimed_by ?? null) : null;
  return who === clientId ? null : who;
}

export function useCommands(otherPilot: string | null): Commands {
  const known = useAsk('commands.get');
  return {
    ...state.value,
    give: (name, ...orders) => {
      if (state.peek().running !== null && orders.some(({ cmd }) => !ALWAYS.has(cmd))) return;
      const mine = ++newestRun;
      if (target.peek()?.taken === true && orders.some(({ cmd }) => ELSEWHERE.has(cmd))) target.value = null;
      state.value = { running: name, outcome: null };
      void run(orders, () => mine === newestRun).then((refusal) => {
        if (mine !== newestRun) return;
        // Whoever looks at another page must not miss that it failed.
        if (refusal !== null && place.peek().page !== 'fly')
          say(
            refusal.words === '' ? t.fly.noAnswer({ name }) : t.fly.refused({ name, words: refusal.words }),
            'bad',
            { stays: true },
          );
        state.value = {
          running: null,
          outcome:
            refusal === null
              ? { text: t.fly.accepted({ name }), tone: 'good' }
              : {
                  text:
                    refusal.words === ''
                      ? t.fly.noAnswer({ name })
                      : t.fly.refused({ name, words: refusal.words }),
                  tone: 'bad',
                  far: refusal.far,
                  stickless: refusal.stickless,
                },
        };
      });
    },
    whyNot: (cmd) => whyNot(cmd, otherPilot),
    offers: (cmd) => known.data === null || cmd in known.data.commands,
    readiness: readiness.value,
    row: 'command.post',
  };
}

interface Refusal {
  /** Of the vehicle or the node; empty: no answer. */
  readonly words: string;
  readonly far?: Order;
  readonly stickless?: Order;
}

/**
 * @param isWanted no later command has taken the place of this one: nobody takes off after they said stop
 * @returns null: all taken; else why not
 */
async function run(orders: readonly Order[], isWanted: () => boolean): Promise<Refusal | null> {
  for (const order of orders) {
    const { cmd, args = [], far, manual } = order;
    if (!isWanted()) return null;
    try {
      const body = {
        cmd,
        args: [...args],
        ...(far === undefined ? {} : { allow_far: far }),
        ...(manual === undefined ? {} : { manual }),
      };
      const { ack, status } = await call('command.post', { body });
      if (!ack.observed) return { words: '' };
      if (status === 'unconfirmed') return { words: t.fly.unconfirmed };
      if (!ack.accepted) return { words: wordsOf(ack) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.code === 'E_TOO_FAR') {
        // Of a mission the sentence says which item.
        const words = error.extras['index'] === undefined ? farText(error.extras) : error.message;
        return { words, far: { ...order, far: true } };
      }
      if (error.code === 'E_STICKS')
        return { words: t.fly.needsSticks, stickless: { ...order, manual: true } };
      return { words: error.message };
    }
  }
  return null;
}

function wordsOf({
  result_name: result,
  statustext,
  reasons = [],
  hint,
}: Answer<'command.post'>['ack']): string {
  const said = reasons.length > 0 ? reasons : statustext === undefined ? [] : [statustext];
  return refusedText(result, hint === undefined ? said : [...said, hint]);
}

function whyNot(cmd: CommandName, otherPilot: string | null): string | null {
  const why = t.fly.why;
  if (armed.value === null) return isAwaited.value ? t.app.loading : t.fly.noVehicle;
  if (otherPilot !== null && !PASS_PILOT.has(cmd)) return why.notPilot({ who: otherPilot });
  if (cmd === 'killSwitch') {
    const held = credential.value;
    return held?.kind === 'token' && !held.scopes.includes('destructive') ? why.destructive : null;
  }
  if (isSilent.value) return ALWAYS.has(cmd) ? null : t.fly.linkLost;
  // Its heartbeats stay away, and everything else comes: the vehicle decides.
  if (armed.value === 'unknown') return null;
  if (WANTS_ARMED.has(cmd)) return armed.value ? null : why.disarmed;
  if (cmd === 'takeoff' && flight.value === 'in_air') return why.flying;
  if (cmd === 'arm' && armed.value) return why.armed;
  if ((cmd === 'arm' || cmd === 'takeoff') && !armed.value) {
    const ready = readiness.value;
    if (ready?.canArm === false && ready.first === null)
      return why.prearm({ words: ready.reasons.join('; ') });
  }
  return null;
}

/** What became of the command that a part has given: `begin` with it. @param onTaken the vehicle took it */
export function useTaken(
  { running, outcome }: Commands,
  onTaken: () => void,
): { readonly begin: () => void; readonly failed: string | null } {
  const [mine, setMine] = useState<number | null>(null);
  const answer = mine === newestRun && running === null ? outcome : null;
  useEffect(() => {
    if (answer?.tone !== 'good') return;
    setMine(null);
    onTaken();
  }, [answer]);
  return { begin: () => setMine(newestRun), failed: answer?.tone === 'bad' ? answer.text : null };
}

/** What the vehicle answered was read. */
export function forgetOutcome(): void {
  if (state.peek().outcome !== null) state.value = { ...state.peek(), outcome: null };
}
