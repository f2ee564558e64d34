import { signal } from '@preact/signals';

/** Gamepads of this machine. Browsers show one only to a secure page, and only after one of its buttons was pressed. */

export interface Pad {
  readonly index: number;
  readonly name: string;
  readonly axes: number;
  readonly buttons: number;
}

/** Those that are plugged in. */
export const pads = signal<readonly Pad[]>([]);

/** Follows what is plugged in and pulled out. @returns ends it */
export function followPads(): () => void {
  const look = (): void => {
    pads.value = all().map(({ index, id, axes, buttons }) => ({
      index,
      name: id.replace(/ *\([^)]*\) *$/, ''),
      axes: axes.length,
      buttons: buttons.length,
    }));
  };
  look();
  addEventListener('gamepadconnected', look);
  addEventListener('gamepaddisconnected', look);
  return () => {
    removeEventListener('gamepadconnected', look);
    removeEventListener('gamepaddisconnected', look);
  };
}

/** Its axes now; null: it was pulled out. */
export function axesOf(index: number): readonly number[] | null {
  return all().find((pad) => pad.index === index && pad.connected)?.axes ?? null;
}

/** Which of its buttons are pressed now. */
export function pressedOf(index: number): readonly number[] {
  const buttons = all().find((pad) => pad.index === index)?.buttons ?? [];
  return buttons.flatMap(({ pressed }, button) => (pressed ? [button] : []));
}

function all(): readonly Gamepad[] {
  // Absent where the page is not secure.
  const list = 'getGamepads' in navigator ? navigator.getGamepads() : [];
  return list.filter((pad) => pad !== null);
}
