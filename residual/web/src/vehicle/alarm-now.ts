import { computed } from '@preact/signals';
import { steady } from '../api/steady.ts';
import { fresh, lastArmed } from '../api/telemetry.ts';
import { language } from '../language/language.ts';
import { wordFor } from '../language/words.ts';
import { craftOf } from '../map/craft.ts';
import { t } from '../strings.ts';
import { type Alarm, alarmOf, type Trouble } from './alarm.ts';
import { astray, flies, isSilent, mavType, phase } from './vehicle-state.ts';

/** What is wrong now, and its words: for the banner of every page, and for the voice. */

export const mode = steady(() => fresh('heartbeat', (body) => body.mode));
const battery = steady(() => fresh('battery', (body) => body.battery.state));

export const alarm = steady<Alarm | null>(() =>
  alarmOf({
    isSilent: isSilent.value,
    phase: phase.value,
    wasArmed: lastArmed.value,
    mode: mode.value,
    isLanding: fresh('landed_state', (body) => body.landed_state) === 'landing',
    failsafe: fresh('heartbeat', (body) => body.failsafe),
    system: fresh('heartbeat', (body) => body.system_state),
    battery: battery.value,
    position: astray.value?.state ?? 'ok',
    isBreached: fresh('fence', (body) => body.fence?.breached),
    isWell: fresh('ekf', (body) => body.ekf?.ok),
    craft: !flies.value ? 'ground' : craftOf(mavType.value) === 'plane' ? 'wing' : 'copter',
  }),
);

const OR = new Intl.ListFormat(language, { type: 'disjunction' });
const AND = new Intl.ListFormat(language);

/** What, what it does, what can be done, what else: sentences that stay the same as long as it is the same. */
interface AlarmWords {
  readonly tone: Alarm['tone'];
  readonly title: string;
  readonly does: string;
  readonly can: string;
  readonly also: string;
}

export const alarmWords = computed<AlarmWords | null>(() => {
  const now = alarm.value;
  if (now === null) return null;
  const { what, tone, reasons, does, can, also } = now;
  const text = t.alarm;
  const named = reasons.map((reason) => wordFor(text.reasons, reason) ?? reason);
  const nameOf = (trouble: Trouble): string =>
    trouble === 'battery' && battery.value !== 'low' ? text.batteryOut : text.what[trouble];
  return {
    tone,
    title: what === 'failsafe' && named.length > 0 ? text.failsafe({ why: AND.format(named) }) : nameOf(what),
    does: does !== null ? text.does[does] : mode.value === null ? '' : text.inMode({ mode: mode.value }),
    // Whether anything still arrives, nobody knows while nothing is heard.
    can:
      can.length === 0
        ? ''
        : text[what === 'link' ? 'tryTo' : 'youCan']({ what: OR.format(can.map((each) => text.can[each])) }),
    also: also.length === 0 ? '' : text.also({ what: AND.format(also.map(nameOf)) }),
  };
});
