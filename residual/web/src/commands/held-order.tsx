import type { IconNode } from 'lucide';
import type { JSX } from 'preact';
import { HoldButton } from '../parts/parts.tsx';
import { ALWAYS, type Commands, type Order } from './orders.ts';

/** A command that is given by holding its button. */
export function HeldOrder({
  commands: { give, whyNot, running, offers, ready, row },
  name,
  order,
  before = [],
  kind = 'plain',
  holdMs,
  why = null,
  icon,
  onGiven,
}: {
  readonly commands: Commands;
  readonly name: string;
  readonly order: Order;
  /** What must be done first. */
  readonly before?: readonly Order[];
  readonly kind?: 'plain' | 'primary' | 'danger';
  readonly holdMs?: number;
  readonly why?: string | null;
  readonly icon?: IconNode;
  /** Called when it was given. */
  readonly onGiven?: () => void;
}): JSX.Element | null {
  if (!offers(order.cmd)) return null;
  return (
    <HoldButton
      kind={kind}
      busy={running !== null && !ALWAYS.has(order.cmd)}
      why={whyNot(order.cmd) ?? why}
      {...(row === undefined ? {} : { row })}
      {...(holdMs === undefined ? {} : { holdMs })}
      {...(icon === undefined ? {} : { icon })}
      {...(ready === undefined ? {} : { onBegin: ready })}
      onConfirm={() => {
        give(name, ...before, order);
        onGiven?.();
      }}
    >
      {name}
    </HoldButton>
  );
}
