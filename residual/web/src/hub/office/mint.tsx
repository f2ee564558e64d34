import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SCOPES, type Scope } from '../../../../../shared/auth/scopes.ts';
import accessCss from '../../pages/access/access.module.css';
import { textIn } from '../../parts/form/form-text.ts';
import { Button, ErrorNote, Field, Note } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import type { Minted } from '../answers.ts';
import { ask } from '../client.ts';
import { hub } from '../hub-words.ts';
import { wordsIn } from './tags.ts';

/** What a call of the fleet may need; secrets are never read that way. */
const FLEET_SCOPES = SCOPES.filter((scope) => scope !== 'secret_read');

/** Programs hold credentials, people are operators. Both are limited to classes of calls and to nodes. */
export type Kind = 'credentials' | 'operators';

/** A name, the rights in words, and the nodes they are for. */
export function Mint({
  kind,
  onMinted,
}: {
  readonly kind: Kind;
  readonly onMinted: (minted: Minted) => void;
}): JSX.Element {
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const act = useAct();
  const text = hub.access;
  const mint = async (form: FormData): Promise<void> => {
    const nodes = wordsIn(textIn(form, 'nodes'));
    const tags = wordsIn(textIn(form, 'tags'));
    const body = {
      [kind === 'operators' ? 'name' : 'label']: textIn(form, 'label').trim(),
      scopes,
      nodes: nodes.length === 0 ? null : nodes,
      ...(tags.length === 0 ? {} : { tags }),
    };
    onMinted(await ask<Minted>(`/v1/${kind}`, { method: 'POST', body }));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void act.run(async () => mint(form));
      }}
    >
      <Field label={text.label}>
        {(ids) => <input {...ids} name="label" required maxLength={128} autocomplete="off" />}
      </Field>
      <fieldset class={accessCss['choices']}>
        <legend>{text.may}</legend>
        {FLEET_SCOPES.map((scope) => (
          <label key={scope} class={accessCss['preset']}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() =>
                setScopes(FLEET_SCOPES.filter((each) => scopes.includes(each) !== (each === scope)))
              }
            />
            <span>
              {t.access.rights[scope]}
              <small>
                {scope}: {t.access.tokens.scopes[scope]}
              </small>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label={text.nodes} hint={text.nodesHint}>
        {(ids) => <input {...ids} name="nodes" autocomplete="off" />}
      </Field>
      <Field label={text.tags} hint={text.tagsHint}>
        {(ids) => <input {...ids} name="tags" autocomplete="off" autocapitalize="off" spellcheck={false} />}
      </Field>
      {scopes.includes('flight') || scopes.includes('destructive') ? <Note>{text.flies}</Note> : null}
      <ErrorNote error={act.error} />
      <Button
        type="submit"
        kind="primary"
        busy={act.busy}
        why={scopes.length === 0 ? t.access.tokens.chooseOne : null}
      >
        {text[kind].mint}
      </Button>
    </form>
  );
}
