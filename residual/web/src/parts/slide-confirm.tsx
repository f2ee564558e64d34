import { ChevronsRight, type IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { RowId } from '../../../../shared/routes/table.ts';
import { denied } from '../api/node.ts';
import { t } from '../strings.ts';
import { Icon } from './icon.tsx';
import { useHold } from './use-hold.ts';

const HOLD_MS = 1000;
// So much of the way is meant; a finger seldom goes to the very end.
const ENOUGH = 0.9;
const EDGE_PX = 8;

/**
 * Acts when its thumb was drawn to the end, or, by keyboard, when Space or Enter was held for a second: for what must not happen by a tap,
 * as arming and taking off. Let go earlier, the thumb goes back. Below it stands why it cannot be used now, or, once it was tapped, what is
 * to be done; each tap moves it.
 */
export function SlideConfirm({
  onConfirm,
  onBegin,
  why = null,
  busy = false,
  kind = 'primary',
  icon = ChevronsRight,
  way,
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
  /** What drawing it does, in a few words on the track. */
  readonly way: string;
  readonly row?: RowId;
  readonly children: ComponentChildren;
}): JSX.Element {
  const closed = row === undefined ? null : denied(row);
  const reason = closed === null ? why : t.denied[closed];
  const off = reason !== null || busy;
  const hold = useHold(off, HOLD_MS, onConfirm, onBegin);
  const from = useRef<{ readonly id: number; readonly x: number; readonly room: number } | null>(null);
  const [at, setAt] = useState(0);
  const [taps, setTaps] = useState(0);
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
  const told = reason ?? (taps === 0 ? '' : t.app.slideHint);
  const id = useId();
  return (
    <div class="slide-box">
      <button
        ref={track}
        type="button"
        class={`slide ${kind}${hold.held ? ' held' : ''}${taps === 0 ? '' : ` tapped-${taps % 2}`}`}
        style={{ '--at': at, '--room': roomOf(), '--hold': `${HOLD_MS}ms` }}
        aria-disabled={off}
        aria-busy={busy}
        aria-describedby={id}
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
          if (!drawn.current) setTaps(taps + 1);
          drawn.current = false;
        }}
        onKeyDown={hold.onKeyDown}
        onKeyUp={hold.stop}
        onBlur={hold.stop}
      >
        <span class="thumb">
          <Icon of={icon} />
        </span>
        <span class="words">
          {children}
          {off ? null : <small aria-hidden="true">{way}</small>}
        </span>
        <Icon of={ChevronsRight} class="way" />
      </button>
      <p id={id} class={`slide-told ${reason === null ? '' : 'warn'}`} role="status">
        {told}
      </p>
    </div>
  );
}
