import { Pencil, Tag } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { Button, Dialog, ErrorNote, Field, Icon } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { ask, me } from '../client.ts';
import { hub } from '../hub-words.ts';
import { labelText, wordsIn } from '../office/tags.ts';
import css from './tags.module.css';

/** What lists find a node by and what rights may go by; changed by whoever has the whole fleet. */
export function Tags({
  entry: { id, tags = [], group = null },
}: {
  readonly entry: NodeEntry;
}): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const mayChange = me.value?.scopes.includes('admin') === true && me.value.nodes === null;
  const labels = [...(group === null ? [] : [labelText(`group:${group}`)]), ...tags];
  if (labels.length === 0 && !mayChange) return null;
  const text = hub.tags;
  return (
    <div class={css['tags']}>
      <ul aria-label={text.title}>
        {labels.map((label) => (
          <li key={label}>
            <Icon of={Tag} />
            {label}
          </li>
        ))}
      </ul>
      {labels.length === 0 ? <span class="hint">{text.none}</span> : null}
      {mayChange ? (
        <>
          <Button kind="quiet" icon={Pencil} aria-haspopup="dialog" onClick={() => setOpen(true)}>
            {text.change}
          </Button>
          <Dialog sheet title={text.title} open={isOpen} onClose={() => setOpen(false)}>
            <Change id={id} tags={tags} group={group} onDone={() => setOpen(false)} />
          </Dialog>
        </>
      ) : null}
    </div>
  );
}

function Change({
  id,
  tags,
  group,
  onDone,
}: {
  readonly id: string;
  readonly tags: readonly string[];
  readonly group: string | null;
  readonly onDone: () => void;
}): JSX.Element {
  const act = useAct();
  const text = hub.tags;
  const change = async (form: FormData): Promise<void> => {
    const name = textIn(form, 'group').trim();
    const body = { tags: wordsIn(textIn(form, 'tags')), group: name === '' ? null : name };
    await ask(`/v1/nodes/${encodeURIComponent(id)}/tags`, { method: 'POST', body });
    onDone();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void act.run(async () => change(form));
      }}
    >
      <Field label={text.tags} hint={text.tagsHint}>
        {(ids) => (
          <input
            {...ids}
            name="tags"
            defaultValue={tags.join(' ')}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
        )}
      </Field>
      <Field label={text.group} hint={text.groupHint}>
        {(ids) => (
          <input
            {...ids}
            name="group"
            defaultValue={group ?? ''}
            maxLength={32}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
        )}
      </Field>
      <p class="hint">{text.rights}</p>
      <ErrorNote error={act.error} />
      <Button type="submit" kind="primary" busy={act.busy}>
        {text.save}
      </Button>
    </form>
  );
}
