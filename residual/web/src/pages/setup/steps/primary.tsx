import type { ComponentChildren, JSX } from 'preact';
import type { RowId } from '../../../../../../shared/routes/table.ts';
import { Button } from '../../../parts/parts.tsx';
import css from '../setup.module.css';

/** The one thing to do on a screen, in reach of a thumb. */
export function Primary({
  busy = false,
  row,
  why = null,
  onClick,
  children,
}: {
  readonly busy?: boolean;
  readonly row?: RowId;
  readonly why?: string | null;
  /** Without it, it sends its form. */
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={css['primary']}>
      <Button
        kind="primary"
        type={onClick === undefined ? 'submit' : 'button'}
        busy={busy}
        why={why}
        explain
        {...(row === undefined ? {} : { row })}
        {...(onClick === undefined ? {} : { onClick })}
      >
        {children}
      </Button>
    </div>
  );
}
