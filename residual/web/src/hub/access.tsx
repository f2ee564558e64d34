import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SCOPES, type Scope } from '../../../../shared/auth/scopes.ts';
import accessCss from '../pages/access/access.module.css';
import { textIn } from '../parts/form-text.ts';
import { moment } from '../parts/format.ts';
import { Button, Card, Copyable, Dialog, ErrorNote, Field, HoldButton, Note } from '../parts/parts.tsx';
import { useAct } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import type { Holder, Minted } from './answers.ts';
import { ask } from './client.ts';
import { useHub } from './use-hub.ts';
import { hub } from './words.ts';

/** What a call of the fleet may need; secrets are never read that way. */
const FLEET_SCOPES = SCOPES.filter((scope) => scope !== 'secret_read');
/** Programs hold credentials, people are operators. Both are limited to classes of calls and to nodes. */
const KINDS = ['credentials', 'operators'] as const;
type Kind = (typeof KINDS)[number];

export function Access(): JSX.Element {
  return (
    <div class="page">
      {KINDS.map((kind) => (
        <Holders key={kind} kind={kind} />
      ))}
    </div>
  );
}

function Holders({ kind }: { kind: Kind }): JSX.Element {
  const { data, error, reload } = useHub<Readonly<Record<Kind, readonly Holder[]>>>(`/v1/${kind}`);
  const [minted, setMinted] = useState<Minted | null>(null);
  const act = useAct();
  const text = hub.access[kind];
  const holders = data?.[kind];
  const end = async (id: string): Promise<void> => {
    await ask(`/v1/${kind}/${encodeURIComponent(id)}`, { method: 'DELETE' });
    reload();
  };
  return (
    <>
      <Card title={text.mint}>
        <p class="hint">{text.hint}</p>
        <Mint
          kind={kind}
          onMinted={(answer) => {
            setMinted(answer);
            reload();
          }}
        />
      </Card>
      <Card title={text.title}>
        <ErrorNote error={error ?? act.error} onRetry={reload} />
        {holders?.length === 0 ? <p>{text.none}</p> : null}
        <ul class={accessCss['list']}>
          {holders?.map((holder) => (
            <li key={holder.id}>
              <div>
                <strong>{holder.label ?? holder.name}</strong>
                <p class="hint">
                  {holder.id} · {holder.scopes.join(', ')} · {hub.access.on(holder.nodes)} ·{' '}
                  {hub.access.made(moment(holder.made_at), holder.operator ?? null)}
                </p>
              </div>
              <HoldButton
                kind="danger"
                busy={act.busy}
                label={hub.access.endOne(holder.label ?? holder.name ?? holder.id)}
                onConfirm={() => void act.run(async () => end(holder.id))}
              >
                {hub.access.end}
              </HoldButton>
            </li>
          ))}
        </ul>
      </Card>
      <Dialog title={text.minted} open={minted !== null} onClose={() => setMinted(null)}>
        {minted === null ? null : (
          <>
            <Note tone="warn">{hub.access.once}</Note>
            <Copyable label={text.minted} text={minted.credential} />
            {kind === 'operators' ? null : (
              <>
                <p>{hub.access.use}</p>
                <Copyable
                  label={hub.access.use}
                  text={`SVC_MCP_TOKEN=${minted.credential} svc-mcp --target fleet --gcs ${location.origin}`}
                />
              </>
            )}
          </>
        )}
      </Dialog>
    </>
  );
}

function Mint({ kind, onMinted }: { kind: Kind; onMinted: (minted: Minted) => void }): JSX.Element {
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const act = useAct();
  const text = hub.access;
  const mint = async (form: FormData): Promise<void> => {
    const nodes = textIn(form, 'nodes')
      .split(/[ ,]+/)
      .filter((each) => each !== '');
    const body = {
      [kind === 'operators' ? 'name' : 'label']: textIn(form, 'label').trim(),
      scopes,
      nodes: nodes.length === 0 ? null : nodes,
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
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() =>
                setScopes(FLEET_SCOPES.filter((each) => scopes.includes(each) !== (each === scope)))
              }
            />
            <span>
              {scope}: {t.access.tokens.scopes[scope]}
            </span>
          </label>
        ))}
      </fieldset>
      <Field label={text.nodes} hint={text.nodesHint}>
        {(ids) => <input {...ids} name="nodes" autocomplete="off" />}
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
