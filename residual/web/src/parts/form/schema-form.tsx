import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { memberOf } from '../../../../../shared/member.ts';
import { Refused } from '../../api/client.ts';
import { t } from '../../strings.ts';
import { Button, Field, Note } from '../parts.tsx';
import { useAct } from '../use-ask.ts';
import {
  closedTo,
  type FormSchema,
  isSecret,
  type Kind,
  kindOf,
  limitsOf,
  shown,
  textOf,
  typesOf,
  valueOf,
} from './json-schema-form.ts';
import css from './schema-form.module.css';

/** Stores one value under its dotted key. @throws Refused: shown at the field */
export type Save = (key: string, value: unknown) => Promise<void>;

/**
 * A form of a JSON Schema of an object. Each value is stored by itself; nested objects are sections.
 * @param values with secrets as a mask, or not there
 * @param why why nothing can be stored now; null: it can
 */
export function SchemaForm({
  schema,
  values,
  onSave,
  why = null,
}: {
  schema: FormSchema;
  values: unknown;
  onSave: Save;
  why?: string | null;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const sections = Object.entries(schema.properties ?? {});
  const hits = (name: string, member: FormSchema): boolean =>
    matches(name, member, search.trim().toLowerCase());
  const found = sections.filter(([name, member]) => hits(name, member));
  const plain = found.filter(([, member]) => member.properties === undefined);
  return (
    <div class={css['schema-form']}>
      {countOf(schema) < 8 ? null : (
        <Field label={t.form.search}>
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      {found.length === 0 ? <Note>{sections.length === 0 ? t.form.nothing : t.form.noHit}</Note> : null}
      {plain.map(([name, member]) => (
        <Leaf
          key={name}
          name={name}
          schema={member}
          value={memberOf(values, name)}
          onSave={onSave}
          why={why}
        />
      ))}
      {found
        .filter(([, member]) => member.properties !== undefined)
        .map(([name, member]) => (
          // Anew with each search, so that it is open while there is one and as it was left otherwise.
          <details key={`${name} ${search !== ''}`} class={css['form-section']} open={search !== ''}>
            <summary>
              <strong>{name}</strong>
              {member.description === undefined ? null : <span class="hint"> {member.description}</span>}
            </summary>
            <Members
              path={name}
              schema={member}
              values={memberOf(values, name)}
              hits={hits}
              onSave={onSave}
              why={why}
            />
          </details>
        ))}
    </div>
  );
}

function Members({
  path,
  schema,
  values,
  hits,
  onSave,
  why,
}: {
  path: string;
  schema: FormSchema;
  values: unknown;
  hits: (name: string, schema: FormSchema) => boolean;
  onSave: Save;
  why: string | null;
}): JSX.Element {
  return (
    <>
      {Object.entries(schema.properties ?? {})
        .map(([name, member]) => ({ name, key: `${path}.${name}`, member }))
        .filter(({ key, member }) => hits(key, member))
        .map(({ name, key, member }) =>
          member.properties === undefined ? (
            <Leaf
              key={key}
              name={key}
              schema={member}
              value={memberOf(values, name)}
              onSave={onSave}
              why={why}
            />
          ) : (
            <fieldset key={key}>
              <legend>{key}</legend>
              {member.description === undefined ? null : <p class="hint">{member.description}</p>}
              <Members
                path={key}
                schema={member}
                values={memberOf(values, name)}
                hits={hits}
                onSave={onSave}
                why={why}
              />
            </fieldset>
          ),
        )}
    </>
  );
}

function Leaf({
  name,
  schema,
  value,
  onSave,
  why,
}: {
  name: string;
  schema: FormSchema;
  value: unknown;
  onSave: Save;
  why: string | null;
}): JSX.Element {
  const kind = kindOf(schema);
  const [saved, setSaved] = useState<{ readonly over: string; readonly text: string } | null>(null);
  const given = textOf(kind, value === undefined && kind !== 'switch' ? schema.default : value);
  // What was stored just now, until the values are asked anew.
  const stored = saved !== null && saved.over === given ? saved.text : given;
  const [draft, setDraft] = useState<string | null>(null);
  const { busy, error, run, clear } = useAct();
  const closed = why ?? closedTo(schema);
  const text = draft ?? stored;
  const save = (next: string): void => {
    void run(async () => onSave(name, parsed(kind, next, schema))).then((done) => {
      if (!done) return;
      setDraft(null);
      setSaved(kind === 'secret' ? null : { over: given, text: next });
    });
  };
  return (
    <form
      class={css['leaf']}
      onSubmit={(event) => {
        event.preventDefault();
        if (draft !== null) save(draft);
      }}
    >
      <Field
        label={schema.title ?? name}
        error={error?.message ?? null}
        hint={<Hint schema={schema} kind={kind} closed={closed} />}
      >
        {(ids) => (
          <Input
            ids={ids}
            kind={kind}
            schema={schema}
            text={text}
            isSet={value !== undefined && value !== '' && value !== null}
            disabled={closed !== null}
            onInput={(next) => {
              clear();
              setDraft(next === stored ? null : next);
            }}
          />
        )}
      </Field>
      {draft === null ? null : (
        <div class="row">
          <Button type="submit" kind="primary" busy={busy} aria-label={t.form.saveOf({ name })}>
            {t.app.save}
          </Button>
          <Button
            onClick={() => {
              clear();
              setDraft(null);
            }}
          >
            {t.app.cancel}
          </Button>
        </div>
      )}
      {draft === null && isSecret(schema) && value !== undefined && value !== '' && closed === null ? (
        <Button busy={busy} onClick={() => save('')} aria-label={t.form.clearOf({ name })}>
          {t.form.clear}
        </Button>
      ) : null}
    </form>
  );
}

function Hint({
  schema,
  kind,
  closed,
}: {
  schema: FormSchema;
  kind: Kind;
  closed: string | null;
}): JSX.Element {
  const parts = [
    schema.description,
    limitsOf(schema),
    kind === 'lines' ? t.form.oneALine : null,
    schema.default === undefined || isSecret(schema)
      ? null
      : t.form.default({ value: shown(schema.default) }),
  ].filter((part) => part !== undefined && part !== null);
  return (
    <>
      {parts.join(' · ')}
      {closed === null ? null : <span class={css['closed']}> {closed}</span>}
    </>
  );
}

function Input({
  ids,
  kind,
  schema,
  text,
  isSet,
  disabled,
  onInput,
}: {
  ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean };
  kind: Kind;
  schema: FormSchema;
  text: string;
  isSet: boolean;
  disabled: boolean;
  onInput: (text: string) => void;
}): JSX.Element {
  const common = {
    ...ids,
    value: text,
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(event.currentTarget.value),
    ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
  };
  switch (kind) {
    case 'choice':
    case 'switch': {
      const options: readonly (readonly [string, string])[] =
        kind === 'switch'
          ? [
              ...(text === '' ? [['', t.form.unset] as const] : []),
              ['true', t.form.on],
              ['false', t.form.off],
            ]
          : (schema.enum ?? []).map((each) => [textOf('choice', each), shown(each)] as const);
      return (
        <select
          {...ids}
          value={text}
          disabled={disabled}
          onChange={(event) => onInput(event.currentTarget.value)}
        >
          {options.map(([value, label]) => (
            <option key={value} value={value} selected={value === text}>
              {label}
            </option>
          ))}
        </select>
      );
    }
    case 'number':
      return (
        <input
          {...common}
          type="number"
          inputMode="decimal"
          readOnly={disabled}
          min={schema.minimum}
          max={schema.maximum}
          step={schema.multipleOf ?? (typesOf(schema).includes('integer') ? 1 : 'any')}
        />
      );
    case 'secret':
      return (
        <input
          {...common}
          type="password"
          autocomplete="new-password"
          readOnly={disabled}
          placeholder={isSet ? t.form.secretSet : t.form.secretUnset}
        />
      );
    case 'lines':
    case 'json':
      return <textarea {...common} rows={Math.min(8, text.split('\n').length + 1)} readOnly={disabled} />;
    case 'text':
      return <input {...common} type="text" autocapitalize="off" spellcheck={false} readOnly={disabled} />;
  }
}

function parsed(kind: Kind, text: string, schema: FormSchema): unknown {
  try {
    return valueOf(kind, text, schema);
  } catch {
    throw new Refused(0, 'E_INVALID_VALUE', t.form.noJson);
  }
}

function matches(name: string, schema: FormSchema, search: string): boolean {
  if (`${name} ${schema.title ?? ''} ${schema.description ?? ''}`.toLowerCase().includes(search)) return true;
  return Object.entries(schema.properties ?? {}).some(([member, inner]) =>
    matches(`${name}.${member}`, inner, search),
  );
}

function countOf({ properties }: FormSchema): number {
  return properties === undefined
    ? 1
    : Object.values(properties).reduce((sum, member) => sum + countOf(member), 0);
}
