import type { IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { RowId } from '../../../../shared/routes/table.ts';
import { denied } from '../api/node.ts';
import { t } from '../strings.ts';
import { Icon } from './icon.tsx';
import { useHold } from './use-hold.ts';

const HOLD_MS = 1000;

/** Acts after it was held for a second, by pointer, Space or Enter; who lets go earlier is told to hold it. */
export function HoldButton({
  onConfirm,
  onBegin,
  why = null,
  busy = false,
  kind = 'primary',
  holdMs = HOLD_MS,
  children,
  row,
  label,
  icon,
}: {
  readonly onConfirm: () => void;
  /** It begins to be held: what the act will need can be got ready. */
  readonly onBegin?: () => void;
  readonly why?: string | null;
  readonly busy?: boolean;
  readonly kind?: 'primary' | 'danger' | 'plain';
  readonly holdMs?: number;
  readonly row?: RowId;
  readonly label?: string;
  readonly icon?: IconNode;
  readonly children: ComponentChildren;
}): JSX.Element | null {
  const closed = row === undefined ? null : denied(row);
  const reason = closed === null ? why : t.denied[closed];
  const off = reason !== null || busy;
  const [isTapped, setTapped] = useState(false);
  const done = useRef(false);
  const act = (): void => {
    done.current = true;
    setTapped(false);
    onConfirm();
  };
  const { held, begin, stop, onKeyDown } = useHold(off, holdMs, act, onBegin);
  const told = reason ?? (isTapped && !busy ? t.app.holdHint : null);
  return (
    <button
      type="button"
      class={`button hold ${kind}${held ? ' held' : ''}`}
      style={{ '--hold': `${holdMs}ms` }}
      aria-disabled={off}
      aria-busy={busy}
      aria-label={label}
      title={reason ?? t.app.holdHint}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        done.current = false;
        begin();
      }}
      onClick={() => setTapped(!done.current)}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
      onKeyUp={stop}
      onBlur={stop}
    >
      {icon === undefined ? null : <Icon of={icon} />}
      {children}
      {told === null ? null : (
        <span class="reason" role="status">
          {told}
        </span>
      )}
    </button>
  );
}
