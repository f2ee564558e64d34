import type { IconNode } from 'lucide';
import type { JSX } from 'preact';
import type { RowId } from '../../../../shared/routes/table.ts';
import { denied } from '../api/node.ts';
import { t } from '../strings.ts';
import { Icon } from './icon.tsx';

/** A button; one that cannot be used now says why. */
type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'disabled' | 'title'> & {
  /** The row that it asks: where this caller may not, the button is not there, or (`explain`) is disabled with the reason. */
  readonly row?: RowId;
  readonly explain?: boolean;
  /** Why it cannot be used now; shown and read out. */
  readonly why?: string | null;
  readonly busy?: boolean;
  readonly kind?: 'primary' | 'danger' | 'plain' | 'quiet';
  /** Before the words; without words `aria-label` is its name. */
  readonly icon?: IconNode;
};

export function Button({
  row,
  explain = false,
  why = null,
  busy = false,
  kind = 'plain',
  icon,
  children,
  ...rest
}: ButtonProps): JSX.Element | null {
  const closed = row === undefined ? null : denied(row);
  if (closed !== null && !explain) return null;
  const reason = closed === null ? why : t.denied[closed];
  return (
    // Not `disabled`: the keyboard must reach the reason.
    <button
      type="button"
      {...rest}
      class={`button ${kind}${children === undefined ? ' only-icon' : ''}`}
      aria-disabled={reason !== null || busy}
      aria-busy={busy}
      {...(reason === null
        ? children === undefined
          ? { title: rest['aria-label'] }
          : {}
        : { title: reason, onClick: (event: Event) => event.preventDefault() })}
      {...(busy ? { onClick: undefined } : {})}
    >
      {icon === undefined ? null : <Icon of={icon} />}
      {children}
      {reason === null || children === undefined ? null : <span class="reason">{reason}</span>}
    </button>
  );
}
