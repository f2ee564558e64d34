import type { ComponentChildren, JSX } from 'preact';
import { listOf, recordOf } from '../../../../shared/member.ts';
import type { Refused } from '../api/client.ts';
import { t } from '../strings.ts';
import { Button } from './button.tsx';

/** The node's refusal in its own words. */
export function ErrorNote({
  error,
  onRetry,
}: {
  error: Refused | null;
  onRetry?: () => void;
}): JSX.Element | null {
  if (error === null) return null;
  const violations = listOf(error.extras['errors']).map((each) => {
    const { path, message } = recordOf(each);
    return { path: String(path), message: String(message) };
  });
  return (
    <div class="note bad" role="alert">
      <p>{error.message}</p>
      {violations.length < 2 ? null : (
        <ul>
          {violations.map(({ path, message }) => (
            <li key={`${path}${message}`}>
              {path} {message}
            </li>
          ))}
        </ul>
      )}
      {onRetry === undefined ? null : <Button onClick={onRetry}>{t.app.retry}</Button>}
    </div>
  );
}

export function Note({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`note ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** A word with a colour and a shape, so that the colour alone says nothing. */
export function Badge({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** @param value 0 to 1; null: not known how far */
export function Progress({ label, value }: { label: string; value: number | null }): JSX.Element {
  return (
    <div class="progress">
      <span>{label}</span>
      <progress aria-label={label} max={1} {...(value === null ? {} : { value })} />
    </div>
  );
}
