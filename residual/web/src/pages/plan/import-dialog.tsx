import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button, Dialog, Field } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import type { FoundShapes } from './import/shapes-in.ts';
import { addFound, drawnOf, USES, type Use, type Wish, wishesOf } from './import/use-shapes.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import type { Sketch } from './sketch.ts';

/** What each shape of a file becomes. */
export function ImportDialog({
  sketch,
  name,
  found,
  onClose,
}: {
  readonly sketch: Sketch;
  readonly name: string;
  readonly found: FoundShapes;
  readonly onClose: () => void;
}): JSX.Element {
  const [wishes, setWishes] = useState<readonly Wish[]>(() => wishesOf(found));
  const [failed, setFailed] = useState<readonly string[]>([]);
  const add = (): void => {
    const bad = addFound(sketch, wishes);
    setFailed(bad);
    if (bad.length === 0) onClose();
  };
  return (
    <Dialog sheet title={planWords.import.title({ name })} open onClose={onClose}>
      {wishes.map((wish, at) => (
        <Field key={at} label={wish.label} hint={drawnOf(wish)}>
          {(ids) => (
            <select
              {...ids}
              value={wish.use}
              onChange={(event) => {
                const use = USES[wish.kind].find((each) => each === event.currentTarget.value);
                if (use !== undefined) setWishes(wishes.with(at, { ...wish, use }));
              }}
            >
              {USES[wish.kind].map((use: Use) => (
                <option key={use} value={use}>
                  {planWords.import.uses[use]}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
      {found.dropped === 0 ? null : <p class="hint">{planWords.import.dropped({ count: found.dropped })}</p>}
      {found.shapes.some(({ holes }) => holes.length > 0) ? (
        <p class="hint">{planWords.import.holes}</p>
      ) : null}
      {failed.map((label) => (
        <p key={label} class="error" role="alert">
          {planWords.import.failed({ name: label })}
        </p>
      ))}
      <div class={`row ${css['foot']}`}>
        <Button kind="primary" onClick={add}>
          {planWords.import.add}
        </Button>
        <Button onClick={onClose}>{t.app.cancel}</Button>
      </div>
    </Dialog>
  );
}
