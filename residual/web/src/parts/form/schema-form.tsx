import { type IconNode, Lock, LockOpen, Search, SlidersHorizontal, Undo2 } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  bySection,
  choicesOf,
  isFound,
  type Setting as SettingOf,
  settingsOf,
  topicsOf,
} from '../../../../../shared/config/settings.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { Refused } from '../../api/client.ts';
import { wordFor } from '../../language/words.ts';
import { t } from '../../strings.ts';
import { Badge, Button, EmptyState, Field, HoldButton, Icon, Note, Sections } from '../parts.tsx';
import { useAct } from '../use-ask.ts';
import {
  closedTo,
  type FormSchema,
  faultIn,
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

/**
 * Stores one value under its dotted key.
 * @param force over the armed guard
 * @throws Refused: shown at the field
 */
type Save = (key: string, value: unknown, force: boolean) => Promise<void>;
type Setting = SettingOf<FormSchema>;

/** With so many settings they are searched. */
const SEARCHED = 8;

/**
 * A form of a JSON Schema of an object: its values by topic and section, changed at leisure and stored together.
 * @param values with secrets as a mask, or not there
 * @param onSaved after all that could be stored are
 * @param why why nothing can be stored now; null: it can
 * @param words what is shown in place of a text of the schema
 * @param topics where each topic of the schema is seen
 */
export function SchemaForm({
  schema,
  values,
  onSave,
  onSaved,
  why = null,
  words = (text) => text,
  topics = null,
}: {
  schema: FormSchema;
  values: unknown;
  onSave: Save;
  onSaved: (count: number) => void;
  why?: string | null;
  words?: (text: string) => string;
  topics?: {
    readonly chosen: string | undefined;
    readonly hrefOf: (id: string) => string;
    readonly icons: Readonly<Record<string, IconNode>>;
  } | null;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [isChanged, setChanged] = useState(false);
  const [isRaw, setRaw] = useState(false);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(new Map());
  const [refusals, setRefusals] = useState<ReadonlyMap<string, Refused>>(new Map());
  // What was stored just now, until the values are asked anew.
  const [stored, setStored] = useState<ReadonlyMap<string, Edited>>(new Map());
  const all = settingsOf(schema);
  const topicList = topicsOf(schema, all);
  const editedOf = (setting: Setting): Edited => {
    const { key, leaf } = setting;
    const kind = isRaw && !isSecret(leaf) ? 'raw' : kindOf(leaf);
    const value = valueIn(values, key);
    const given = textOf(kind, value === undefined && kind !== 'switch' ? leaf.default : value);
    const saved = stored.get(key);
    const text = saved?.kind === kind && saved.given === given ? saved.text : given;
    return {
      kind,
      value,
      given,
      text,
      usual: leaf.default === undefined ? null : textOf(kind, leaf.default),
    };
  };
  const isOther = ({ kind, text, usual }: Edited): boolean =>
    kind === 'secret' ? text !== '' : usual !== null && text !== usual;
  const stage = (key: string, text: string | null): void => {
    setDrafts((before) => changed(before, key, text));
    setRefusals((before) => changed(before, key, null));
  };
  const wanted = search.trim();
  const chosen = topicList.find(({ id }) => id === topics?.chosen) ?? topicList[0];
  const isWide = wanted !== '' || isChanged || topics === null || isRaw;
  const seen = topicList
    .filter((topic) => isWide || topic === chosen)
    .map((topic) => ({
      ...topic,
      settings: topic.settings.filter(
        (setting) =>
          isFound(setting, topic.title, wanted, words) &&
          (!isChanged || drafts.has(setting.key) || isOther(editedOf(setting))),
      ),
    }))
    .filter(({ settings }) => settings.length > 0);
  const changes = all.flatMap((setting) => {
    const text = drafts.get(setting.key);
    return text === undefined ? [] : [{ setting, edited: editedOf(setting), text }];
  });
  const save = async (force: boolean): Promise<void> => {
    // Whoever changes where a secret goes loses the old one: the new one comes after it.
    let open = changes.toSorted((a, b) => sendsOf(b.setting) - sendsOf(a.setting));
    const kept = new Map(stored);
    const refused = new Map<string, Refused>();
    // What was wrong together with the old value of another may be right with its new one.
    for (let before = -1; open.length > 0 && open.length !== before; ) {
      before = open.length;
      const left: typeof open = [];
      for (const change of open) {
        const { setting, edited, text } = change;
        const { key, leaf } = setting;
        try {
          await onSave(key, valueOf(edited.kind, text, leaf), force);
          refused.delete(key);
          kept.set(key, { ...edited, text: edited.kind === 'secret' ? '' : text });
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          refused.set(key, error);
          left.push(change);
        }
      }
      open = left;
    }
    setStored(kept);
    setRefusals(refused);
    setDrafts((now) => new Map([...now].filter(([key]) => refused.has(key))));
    if (open.length < changes.length) onSaved(changes.length - open.length);
  };
  const list = (
    <>
      {seen.length === 0 ? (
        <EmptyState icon={Search} text={all.length === 0 ? t.form.nothing : t.form.noHit} />
      ) : null}
      {seen.flatMap((topic) =>
        [...bySection(topic.settings)].map(([section, settings]) => {
          const title = titleOf(section, settings, words);
          const isNamed = topics !== null && isWide && words(topic.title) !== title;
          const heading = isNamed ? [words(topic.title), title] : [title];
          return (
            <section key={`${topic.id} ${settings[0]?.key}`} class={css['group']}>
              {title === '' ? null : <h3>{heading.join(' · ')}</h3>}
              {isRaw || section?.description === undefined ? null : (
                <p class="hint">{words(section.description)}</p>
              )}
              {settings.map((setting) => (
                <Setting
                  key={setting.key}
                  setting={setting}
                  edited={editedOf(setting)}
                  draft={drafts.get(setting.key) ?? null}
                  isOther={isOther(editedOf(setting))}
                  refusal={refusals.get(setting.key)?.message ?? null}
                  why={why}
                  words={words}
                  onEdit={(text) => stage(setting.key, text)}
                />
              ))}
            </section>
          );
        }),
      )}
    </>
  );
  return (
    <div class={css['schema-form']}>
      {all.length < SEARCHED ? null : (
        <div class={css['head']}>
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
          <label class="check">
            <input
              type="checkbox"
              role="switch"
              aria-checked={isChanged}
              checked={isChanged}
              onChange={(event) => setChanged(event.currentTarget.checked)}
            />
            {t.form.changedOnly}
          </label>
          {topics === null ? null : (
            <label class="check">
              <input
                type="checkbox"
                role="switch"
                aria-checked={isRaw}
                checked={isRaw}
                disabled={drafts.size > 0}
                onChange={(event) => setRaw(event.currentTarget.checked)}
              />
              {t.form.raw}
            </label>
          )}
        </div>
      )}
      {topics === null || isRaw ? (
        list
      ) : (
        <Sections
          label={t.form.topics}
          sections={topicList.map(({ id, title }) => ({
            id,
            name: words(title),
            icon: topics.icons[id] ?? SlidersHorizontal,
            href: topics.hrefOf(id),
          }))}
          chosen={isWide ? '' : (chosen?.id ?? '')}
          onChoose={() => {
            setSearch('');
            setChanged(false);
          }}
        >
          {list}
        </Sections>
      )}
      {changes.length === 0 ? null : (
        <SaveBar
          changes={changes}
          refusals={[...refusals.values()]}
          onSave={save}
          onDiscard={() => {
            setDrafts(new Map());
            setRefusals(new Map());
          }}
        />
      )}
    </div>
  );
}

/** A value as it is edited. */
interface Edited {
  readonly kind: Kind;
  /** As the node has it. */
  readonly value: unknown;
  readonly given: string;
  /** As it stands, perhaps newer than `given`. */
  readonly text: string;
  /** Its default; null: it has none. */
  readonly usual: string | null;
}

interface Change {
  readonly setting: Setting;
  readonly edited: Edited;
  readonly text: string;
}

/** How many changes wait, what they restart, and what the node said of those that it refused. */
function SaveBar({
  changes,
  refusals,
  onSave,
  onDiscard,
}: {
  changes: readonly Change[];
  refusals: readonly Refused[];
  onSave: (force: boolean) => Promise<void>;
  onDiscard: () => void;
}): JSX.Element {
  const { busy, run } = useAct();
  const restarts = [...new Set(changes.flatMap(({ setting }) => setting.leaf['x-restart'] ?? []))];
  const isWrong = changes.some(
    ({ setting, edited, text }) => faultIn(edited.kind, text, setting.leaf) !== null,
  );
  return (
    <section class={css['bar']} aria-label={t.form.unsaved({ count: changes.length })}>
      {refusals.length === 0 ? null : <Note tone="bad">{t.form.refused({ count: refusals.length })}</Note>}
      {refusals.some(({ code }) => code === 'E_ARMED') ? (
        <HoldButton
          kind="danger"
          busy={busy}
          onConfirm={() => void run(async () => onSave(true))}
          holdMs={2000}
        >
          {t.app.force}
        </HoldButton>
      ) : null}
      <header>
        <p>
          <strong>{t.form.unsaved({ count: changes.length })}</strong>
          {restarts.length === 0 ? null : ` ${restartsOf(restarts)}`}
        </p>
        <Button onClick={onDiscard}>{t.form.discard}</Button>
        <Button
          kind="primary"
          busy={busy}
          why={isWrong ? t.form.wrongFirst : null}
          onClick={() => void run(async () => onSave(false))}
        >
          {t.app.save}
        </Button>
      </header>
    </section>
  );
}

function Setting({
  setting: { key, leaf },
  edited,
  draft,
  isOther,
  refusal,
  why,
  words,
  onEdit,
}: {
  setting: Setting;
  edited: Edited;
  draft: string | null;
  isOther: boolean;
  refusal: string | null;
  why: string | null;
  words: (text: string) => string;
  /** @param text null: as it is stored */
  onEdit: (text: string | null) => void;
}): JSX.Element {
  const { kind, value, text, usual } = edited;
  const isRaw = kind === 'raw';
  const name = leaf.title === undefined || isRaw ? key : words(leaf.title);
  const closed = why ?? closedTo(leaf, words);
  const isSet = value !== undefined && value !== '' && value !== null;
  const now = draft ?? text;
  const edit = (next: string): void => onEdit(next === text ? null : next);
  const restarts = leaf['x-restart'] ?? [];
  return (
    <div class={css['leaf']} data-key={key} data-staged={draft !== null}>
      <Field
        label={name}
        error={draft === null ? null : (faultIn(kind, draft, leaf) ?? refusal)}
        hint={isRaw ? undefined : hintOf(leaf, kind, words)}
      >
        {(ids) => (
          <span class={css['control']}>
            <Input
              ids={ids}
              name={name}
              kind={kind}
              schema={leaf}
              text={now}
              isSet={isSet && draft === null}
              disabled={closed !== null}
              words={words}
              onInput={edit}
            />
            {leaf['x-unit'] === undefined || isRaw ? null : <span>{words(leaf['x-unit'])}</span>}
          </span>
        )}
      </Field>
      <div class={css['marks']}>
        {isOther ? <Badge>{t.form.changed}</Badge> : null}
        {usual !== null && kind !== 'secret' && now !== usual && closed === null ? (
          <Button
            kind="quiet"
            icon={Undo2}
            aria-label={t.form.resetOf({ name, value: shown(leaf.default, leaf, words) })}
            onClick={() => edit(usual)}
          >
            {t.form.reset({ value: shown(leaf.default, leaf, words) })}
          </Button>
        ) : null}
        {kind === 'secret' && isSet && draft === null && closed === null ? (
          <Button onClick={() => onEdit('')} aria-label={t.form.clearOf({ name })}>
            {t.form.clear}
          </Button>
        ) : null}
        {closed !== null || leaf['x-armed'] === 'guard' ? (
          <span>
            <Icon of={closed === null ? LockOpen : Lock} /> {closed ?? t.form.guarded}
          </span>
        ) : null}
        {restarts.length === 0 ? null : <span>{restartsOf(restarts)}</span>}
        {leaf.title === undefined || isRaw ? null : <code>{key}</code>}
      </div>
    </div>
  );
}

function Input({
  ids,
  name,
  kind,
  schema,
  text,
  isSet,
  disabled,
  words,
  onInput,
}: {
  ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean };
  name: string;
  kind: Kind;
  schema: FormSchema;
  text: string;
  isSet: boolean;
  disabled: boolean;
  words: (text: string) => string;
  onInput: (text: string) => void;
}): JSX.Element {
  const common = {
    ...ids,
    value: text,
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(event.currentTarget.value),
    readOnly: disabled,
    ...(schema.maxLength === undefined || kind === 'raw' ? {} : { maxLength: schema.maxLength }),
  };
  const choices = choicesOf(schema).map(([choice, word]) => [textOf('choice', choice), words(word)] as const);
  const plain = { type: 'text', autocapitalize: 'off', spellcheck: false } as const;
  switch (kind) {
    case 'switch':
      if (text !== '' && schema.default !== undefined)
        return (
          <input
            {...ids}
            type="checkbox"
            role="switch"
            aria-checked={text === 'true'}
            checked={text === 'true'}
            disabled={disabled}
            onChange={(event) => onInput(String(event.currentTarget.checked))}
          />
        );
      return (
        <Choice
          ids={ids}
          text={text}
          disabled={disabled}
          onInput={onInput}
          options={[
            ...(text === '' ? [['', t.form.unset] as const] : []),
            ['true', t.form.on],
            ['false', t.form.off],
          ]}
        />
      );
    case 'choice':
      return <Choice ids={ids} text={text} disabled={disabled} onInput={onInput} options={choices} />;
    case 'set': {
      const held = text.split('\n');
      return (
        <span class={css['set']} role="group" aria-label={name} aria-describedby={ids['aria-describedby']}>
          {choices.map(([choice, word]) => (
            <label key={choice} class="check">
              <input
                type="checkbox"
                checked={held.includes(choice)}
                disabled={disabled}
                onChange={({ currentTarget: { checked } }) =>
                  onInput(
                    choices
                      .map(([each]) => each)
                      .filter((each) => (each === choice ? checked : held.includes(each)))
                      .join('\n'),
                  )
                }
              />
              {word}
            </label>
          ))}
        </span>
      );
    }
    case 'number':
      return (
        <input
          {...common}
          type="number"
          inputMode="decimal"
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
          placeholder={isSet ? t.form.secretSet : t.form.secretUnset}
        />
      );
    case 'lines':
    case 'json':
      return <textarea {...common} rows={Math.min(8, text.split('\n').length + 1)} spellcheck={false} />;
    case 'text':
    case 'raw':
      return <input {...common} {...plain} />;
  }
}

function Choice({
  ids,
  text,
  disabled,
  options,
  onInput,
}: {
  ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean };
  text: string;
  disabled: boolean;
  options: readonly (readonly [value: string, label: string])[];
  onInput: (text: string) => void;
}): JSX.Element {
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

function hintOf(schema: FormSchema, kind: Kind, words: (text: string) => string): string {
  const choices = choicesOf(schema).map(([choice]) => String(choice));
  const parts = [
    schema.description === undefined ? null : words(schema.description),
    kind === 'set' ? null : limitsOf(schema),
    kind === 'lines' ? t.form.oneALine : null,
    kind === 'lines' && choices.length > 0 ? choices.join(', ') : null,
    kind === 'json' ? t.form.asJson : null,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

/** The name of a section; without a title its key. Empty of what stands in none. */
function titleOf(
  section: FormSchema | undefined,
  [first]: readonly Setting[],
  words: (text: string) => string,
): string {
  if (section === undefined) return '';
  return section.title === undefined
    ? (first?.key.split('.').slice(0, -1).join('.') ?? '')
    : words(section.title);
}

function restartsOf(services: readonly string[]): string {
  if (services.includes('svc-supervisor')) return t.form.restartsAll;
  return t.form.restarts({
    names: services.map((name) => wordFor(t.node.services.names, name) ?? name).join('; '),
  });
}

function sendsOf({ leaf }: Setting): number {
  return leaf['x-sends'] === undefined ? 0 : 1;
}

function valueIn(values: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>(memberOf, values);
}

/** @param value null: without it */
function changed<V>(map: ReadonlyMap<string, V>, key: string, value: V | null): ReadonlyMap<string, V> {
  const next = new Map(map);
  if (value === null) next.delete(key);
  else next.set(key, value);
  return next;
}
