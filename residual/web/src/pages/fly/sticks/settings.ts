import { signal } from '@preact/signals';
import { memberOf } from '../../../../../../shared/member.ts';
import { type Axis, FUNCTIONS, MODES, type StickFunction, type StickSettings } from './shape.ts';

/** How the sticks of this browser are set, kept from one flight to the next. */

const USUAL: StickSettings = { axes: MODES[2], dead: 0.08, expo: 0.3, buttons: {} };
const STORED = 'svc.sticks';
const MAX_AXIS = 31;

export const settings = signal<StickSettings>(stored());

export function change(part: Partial<StickSettings>): void {
  settings.value = { ...settings.value, ...part };
  localStorage.setItem(STORED, JSON.stringify(settings.value));
}

/** The mode of a transmitter that the settings are; null: none of them. */
export function modeOf(): keyof typeof MODES | null {
  const { axes } = settings.value;
  const same = (mode: keyof typeof MODES): boolean =>
    FUNCTIONS.every(
      (name) =>
        MODES[mode][name].index === axes[name].index && MODES[mode][name].inverted === axes[name].inverted,
    );
  return ([1, 2, 3, 4] as const).find(same) ?? null;
}

/** What was kept, as far as it makes sense: another version of the page may have written it. */
function stored(): StickSettings {
  let kept: unknown;
  try {
    kept = JSON.parse(localStorage.getItem(STORED) ?? 'null');
  } catch {
    return USUAL; // somebody else's
  }
  const axis = (name: StickFunction): Axis => {
    const found = memberOf(memberOf(kept, 'axes'), name);
    const index = memberOf(found, 'index');
    const usual = USUAL.axes[name];
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > MAX_AXIS) return usual;
    return { index, inverted: memberOf(found, 'inverted') === true };
  };
  const share = (name: 'dead' | 'expo', most: number): number => {
    const value = memberOf(kept, name);
    return typeof value === 'number' && value >= 0 && value <= most ? value : USUAL[name];
  };
  const buttons = memberOf(kept, 'buttons');
  const entries = typeof buttons === 'object' && buttons !== null ? Object.entries(buttons) : [];
  return {
    axes: {
      forward: axis('forward'),
      right: axis('right'),
      height: axis('height'),
      turn: axis('turn'),
    },
    dead: share('dead', 0.3),
    expo: share('expo', 1),
    buttons: Object.fromEntries(
      entries.flatMap(([button, what]) => (typeof what === 'string' ? [[button, what]] : [])),
    ),
  };
}
