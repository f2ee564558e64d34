import { useEffect, useRef } from 'preact/hooks';
import type { Commands, Order } from '../../../commands/orders.ts';
import { t } from '../../../strings.ts';
import { type Pad, pressedOf } from './gamepad.ts';
import { settings } from './settings.ts';

/** What the buttons of a gamepad do: a command, or a mode. */

const LOOK_MS = 50;
/** Commands that a button may give; arming is not among them. */
export const ORDERS = ['stop', 'rtl', 'land'] as const;

/** A button that is pressed gives its command, once. */
export function useButtons(pad: Pad | undefined, { give, whyNot }: Commands): void {
  const index = pad?.index;
  const act = useRef<(button: number) => void>(() => undefined);
  act.current = (button) => {
    const what = settings.peek().buttons[button];
    if (what === undefined || what === '') return;
    const order = orderOf(what);
    if (whyNot(order.cmd) === null) give(nameOf(what), order);
  };
  useEffect(() => {
    if (index === undefined) return;
    let before: readonly number[] = pressedOf(index);
    const timer = setInterval(() => {
      const pressed = pressedOf(index);
      for (const button of pressed) if (!before.includes(button)) act.current(button);
      before = pressed;
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [index]);
}

function orderOf(what: string): Order {
  const order = ORDERS.find((cmd) => cmd === what);
  return order === undefined ? { cmd: 'mode', args: [what] } : { cmd: order };
}

export function nameOf(what: string): string {
  const order = ORDERS.find((cmd) => cmd === what);
  return order === undefined ? t.fly.switchTo({ mode: what }) : t.fly[order];
}
