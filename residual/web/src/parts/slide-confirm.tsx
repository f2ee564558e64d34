import { ChevronsRight, type IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { RowId } from '../../../../shared/routes/table.ts';
import { denied } from '../api/node.ts';
import { t } from '../strings.ts';
import { Icon } from './icon.tsx';
import { say } from './toast.tsx';
import { useHold } from './use-hold.ts';

const HOLD_MS = 1000;
// So much of the way is meant; a finger seldom goes to the very end.
const ENOUGH = 0.9;
const EDGE_PX = 8;

/**
 * Acts when its thumb was drawn to the end, or, by keyboard, when Space or Enter was held for a second: for what must not happen by a tap,
 * as arming and taking off. Let go earlier, the thumb goes back. One that cannot be used now says why when it is touched.
 */
export function SlideConfirm({
  onConfirm,
  onBegin,
  why = null,
  busy = false,
  kind = 'primary',
  icon = ChevronsRight,
  row,
  children,
}: {
  readonly onConfirm: () => void;
  /** It begins to be drawn: what the act will need can be got ready. */
  readonly onBegin?: () => void;
  readonly why?: string | null;
  readonly busy?: boolean;
  readonly kind?: 'primary' | 'danger';
  readonly icon?: IconNode;
  readonly row?: RowId;
  readonly children: ComponentChildren;
}): JSX.Element {
  const closed = row === undefined ? null : denied(row);
  const reason = closed === null ? why : t.denied[closed];
  const off = reason !== null || busy;
  const hold = useHold(off, HOLD_MS, onConfirm, onBegin);
  const from = useRef<{ readonly id: number; readonly x: number; readonly room: number } | null>(null);
  const [at, setAt] = useState(0);
  // The browser calls the end of a slide a click.
  const drawn = useRef(false);
  const back = (): void => {
    from.current = null;
    setAt(0);
  };
  const track = useRef<HTMLButtonElement>(null);
  const roomOf = (): number => {
    const box = track.current;
    return box === null ? 0 : Math.max(1, box.clientWidth - box.clientHeight - EDGE_PX / 4);
  };
  return (
    <button
      ref={track}
      type="button"
      class={`slide ${kind}${hold.held ? ' held' : ''}`}
      style={{ '--at': at, '--room': roomOf(), '--hold': `${HOLD_MS}ms` }}
      aria-disabled={off}
      aria-busy={busy}
      title={reason ?? t.app.slideHint}
      onPointerDown={(event) => {
        if (event.button !== 0 || off) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drawn.current = false;
        from.current = { id: event.pointerId, x: event.clientX, room: roomOf() };
        onBegin?.();
      }}
      onPointerMove={(event) => {
        const start = from.current;
        if (start === null || start.id !== event.pointerId) return;
        drawn.current ||= Math.abs(event.clientX - start.x) > EDGE_PX;
        setAt(Math.min(start.room, Math.max(0, event.clientX - start.x)));
      }}
      onPointerUp={(event) => {
        const start = from.current;
        back();
        if (start !== null && !off && event.clientX - start.x >= start.room * ENOUGH) onConfirm();
      }}
      onPointerCancel={back}
      onContextMenu={(event) => event.preventDefault()}
      // A tap, or a click of assistive technology: it says what is to be done, or why nothing can be.
      onClick={() => {
        // An empty reason stands elsewhere.
        if (!drawn.current && reason !== '')
          say(reason ?? t.app.slideHint, reason === null ? 'info' : 'warn');
        drawn.current = false;
      }}
      onKeyDown={hold.onKeyDown}
      onKeyUp={hold.stop}
      onBlur={hold.stop}
    >
      <span class="thumb">
        <Icon of={icon} />
      </span>
      {children}
    </button>
  );
}
