import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

/** A label with one input; `children` gets the ids that tie them together. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  children: (ids: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': note === undefined || note === null ? undefined : `${id}-note`,
        'aria-invalid': error !== undefined && error !== null,
      })}
      {note === undefined || note === null ? null : (
        <p id={`${id}-note`} class={error === undefined || error === null ? 'hint' : 'error'}>
          {note}
        </p>
      )}
    </div>
  );
}
