import type { IconNode } from 'lucide';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { denied } from '../../api/node.ts';
import { ALWAYS, type Commands, type Order } from '../../commands/orders.ts';
import { Icon } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useHold } from '../../parts/use-hold.ts';
import { t } from '../../strings.ts';
import css from './dock.module.css';

/** The buttons of the one row of commands: an icon over a word, each in a place of its own. What is not possible now says why when it is touched. */

interface Looks {
  readonly icon: IconNode;
  /** What stands on it. */
  readonly word: string;
  readonly kind?: 'plain' | 'primary' | 'danger';
}

/** One that opens something. */
export function DockButton({
  icon,
  word,
  kind = 'plain',
  name,
  why = null,
  onPress,
}: Looks & {
  /** What it is called where the word does not say enough, with the word in it. */
  readonly name?: string;
  readonly why?: string | null;
  readonly onPress: () => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class={`${css['button']} ${kind}`}
      aria-disabled={why !== null}
      aria-haspopup="dialog"
      aria-label={name}
      title={why ?? name ?? word}
      onClick={() => (why === null ? onPress() : say(why, 'warn'))}
    >
      <Icon of={icon} />
      <span>{word}</span>
    </button>
  );
}

const HOLD_MS = 1000;

/** One that is held: then the vehicle acts. @param keyed its key of the keyboard is held down */
export function DockHold({
  commands: { give, whyNot, running, ready, row },
  icon,
  word,
  name,
  kind = 'plain',
  order,
  holdMs = HOLD_MS,
  keyed = false,
}: Looks & {
  readonly commands: Commands;
  /** What it is called, with the word in it. */
  readonly name: string;
  readonly order: Order;
  readonly holdMs?: number;
  readonly keyed?: boolean;
}): JSX.Element {
  const closed = row === undefined ? null : denied(row);
  const why = closed === null ? whyNot(order.cmd) : t.denied[closed];
  const off = why !== null || (running !== null && !ALWAYS.has(order.cmd));
  const done = useRef(false);
  const act = (): void => {
    done.current = true;
    give(name, order);
  };
  const { held, begin, stop, onKeyDown } = useHold(off, holdMs, act, ready);
  return (
    <button
      type="button"
      class={`${css['button']} ${css['hold']} ${kind} ${held || keyed ? 'held' : ''}`}
      style={{ '--hold': `${holdMs}ms` }}
      aria-disabled={off}
      aria-label={name}
      title={why ?? t.app.holdHint}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        done.current = false;
        begin();
      }}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onContextMenu={(event) => event.preventDefault()}
      // A tap does nothing but say what is to be done, or why nothing can be.
      onClick={() => {
        if (!done.current) say(why ?? t.fly.holdIt({ name }), why === null ? 'info' : 'warn');
        done.current = false;
      }}
      onKeyDown={onKeyDown}
      onKeyUp={stop}
      onBlur={stop}
    >
      <Icon of={icon} />
      <span>{word}</span>
    </button>
  );
}
