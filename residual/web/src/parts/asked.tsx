import type { ComponentChildren, JSX } from 'preact';
import { t } from '../strings.ts';
import { ErrorNote } from './note.tsx';
import type { AskState } from './use-ask.ts';

/**
 * What stands in the place of an answer, whatever became of it: bars while it is awaited, its refusal and "Try again", what an empty
 * one means, else what it holds. Whatever is said of an answer is said in here, so that nothing is said before it is there.
 */
export function Asked<T>({
  of: { data, error, isAwaited, reload },
  empty,
  children,
}: {
  readonly of: AskState<T>;
  /** What is said where there is nothing in it; null: there is something. */
  readonly empty?: (data: T) => JSX.Element | null;
  readonly children?: (data: T) => ComponentChildren;
}): JSX.Element {
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {isAwaited ? <Awaited /> : null}
      {data === null ? null : (empty?.(data) ?? children?.(data))}
    </>
  );
}

/** The outline of what will be there. */
export function Awaited(): JSX.Element {
  return (
    <div class="awaited" role="status" aria-label={t.app.loading}>
      <i />
      <i />
      <i />
    </div>
  );
}
