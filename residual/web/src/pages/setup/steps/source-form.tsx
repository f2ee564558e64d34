import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { NeedsKey } from '../../../parts/closed.tsx';
import { Button, Field } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { setConfig, useConfig } from '../use-config.ts';

interface Option {
  readonly value: string;
  readonly label: string;
}

/** Chooses one of the values that were found for a config key, or writes another. */
export function SourceForm({
  section,
  name,
  label,
  options,
  onSaved,
}: {
  section: string;
  name: string;
  label: string;
  options: readonly Option[];
  onSaved: () => void;
}): JSX.Element {
  const stored = useConfig(section, name);
  const [draft, setDraft] = useState<string | null>(null);
  const [own, setOwn] = useState(false);
  const { busy, error, run } = useAct();
  const now = draft ?? (typeof stored === 'string' ? stored : '');
  const all =
    options.some(({ value }) => value === now) || own ? options : [{ value: now, label: now }, ...options];
  return (
    <>
      <Field label={label} error={error?.message ?? null}>
        {(ids) =>
          own ? (
            <input
              {...ids}
              value={now}
              autocapitalize="off"
              spellcheck={false}
              onInput={(event) => setDraft(event.currentTarget.value)}
            />
          ) : (
            <select
              {...ids}
              value={now}
              onChange={(event) => {
                if (event.currentTarget.value === '…') setOwn(true);
                else setDraft(event.currentTarget.value);
              }}
            >
              {all.map(({ value, label: text }) => (
                <option key={value} value={value} selected={value === now}>
                  {text}
                </option>
              ))}
              <option value="…">{t.setup.other}</option>
            </select>
          )
        }
      </Field>
      <NeedsKey error={error} />
      {draft === null || draft === stored ? null : (
        <Button
          kind="primary"
          busy={busy}
          row="config.put"
          explain
          onClick={() =>
            void run(async () => {
              await setConfig(`${section}.${name}`, draft);
              onSaved();
            })
          }
        >
          {t.app.save}
        </Button>
      )}
    </>
  );
}
