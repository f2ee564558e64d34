import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { listOf, recordOf } from '../../../../shared/member.ts';
import type { RowId } from '../../../../shared/routes/table.ts';
import type { Refused } from '../api/client.ts';
import { denied } from '../api/node.ts';
import { t } from '../strings.ts';

/** The pieces that every page is made of. */

/** A section of a page with a heading; `actions` stand beside it. */
export function Card({
  title,
  actions,
  children,
  wide = false,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <section class={wide ? 'card wide' : 'card'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'disabled' | 'title'> & {
  /** The row that it asks: where this caller may not, the button is not there, or (`explain`) is disabled with the reason. */
  readonly row?: RowId;
  readonly explain?: boolean;
  /** Why it cannot be used now; shown and read out. */
  readonly why?: string | null;
  readonly busy?: boolean;
  readonly kind?: 'primary' | 'danger' | 'plain';
};

export function Button({
  row,
  explain = false,
  why = null,
  busy = false,
  kind = 'plain',
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
      class={`button ${kind}`}
      aria-disabled={reason !== null || busy}
      aria-busy={busy}
      {...(reason === null ? {} : { title: reason, onClick: (event: Event) => event.preventDefault() })}
      {...(busy ? { onClick: undefined } : {})}
    >
      {children}
      {reason === null ? null : <span class="reason">{reason}</span>}
    </button>
  );
}

const HOLD_MS = 1000;

/** Acts after it was held for a second, by pointer, Space or Enter; letting go earlier does nothing. */
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
  readonly children: ComponentChildren;
}): JSX.Element | null {
  const [held, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const closed = row === undefined ? null : denied(row);
  const reason = closed === null ? why : t.denied[closed];
  const off = reason !== null || busy;
  const begin = (): void => {
    if (off || timer.current !== undefined) return;
    setHeld(true);
    onBegin?.();
    timer.current = setTimeout(() => {
      stop();
      onConfirm();
    }, holdMs);
  };
  const stop = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  useEffect(() => stop, []);
  useEffect(() => {
    if (off) stop();
  }, [off]);
  return (
    <button
      type="button"
      class={`button hold ${kind}${held ? ' held' : ''}`}
      style={{ '--hold': `${holdMs}ms` }}
      aria-disabled={off}
      aria-busy={busy}
      aria-label={label}
      title={reason ?? t.app.holdHint}
      onPointerDown={(event) => event.button === 0 && begin()}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== ' ' && event.key !== 'Enter') return;
        event.preventDefault();
        begin();
      }}
      onKeyUp={stop}
      onBlur={stop}
    >
      {children}
      {reason === null ? null : <span class="reason">{reason}</span>}
    </button>
  );
}

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

/** A figure with its name; without a value a dash, with how old the last one is. */
export function Stat({
  label,
  value,
  unit = '',
  age = null,
  tone,
}: {
  label: string;
  value: string | null;
  unit?: string;
  age?: string | null;
  tone?: 'good' | 'warn' | 'bad' | undefined;
}): JSX.Element {
  return (
    <div class={`stat ${value === null ? 'stale' : (tone ?? '')}`}>
      <dt>{label}</dt>
      <dd>
        {value ?? t.app.none}
        {value === null || unit === '' ? null : <small> {unit}</small>}
        {value === null && age !== null ? <small> {t.app.old(age)}</small> : null}
      </dd>
    </div>
  );
}

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

/** A modal question; Escape and the back of the window close it. */
export function Dialog({
  title,
  open,
  onClose,
  children,
}: {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open === open) return;
    if (open) dialog.showModal();
    else dialog.close();
  }, [open]);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      {open ? (
        <>
          <header>
            <h2 id={id}>{title}</h2>
            <Button onClick={onClose} aria-label={t.app.close}>
              ✕
            </Button>
          </header>
          {children}
        </>
      ) : null}
    </dialog>
  );
}

/** Tabs whose choice is in the address (`#/page/tab`), so that it survives a reload. */
export function Tabs<Id extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: readonly { id: Id; name: string }[];
  chosen: Id;
  onChoose: (id: Id) => void;
}): JSX.Element {
  const move = (event: TargetedKeyboardEvent<HTMLElement>, at: number): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step === undefined ? undefined : tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.id);
    const list = event.currentTarget.parentElement;
    list?.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ id, name }, at) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
          onKeyDown={(event) => move(event, at)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** A text to take along: a key, a token, a command line. */
export function Copyable({ label, text }: { label: string; text: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const copy = (): void => {
    // Without https there is no clipboard: the text is selected, to be copied by hand.
    field.current?.select();
    void navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => setDone(false),
    );
  };
  return (
    <div class="copyable">
      <input
        ref={field}
        readOnly
        aria-label={label}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button onClick={copy}>{done ? t.app.copied : t.app.copy}</Button>
    </div>
  );
}
