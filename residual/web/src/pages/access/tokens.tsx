import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { SCOPES, type Scope } from '../../../../../shared/auth/scopes.ts';
import { keysOf } from '../../../../../shared/member.ts';
import { call } from '../../api/client.ts';
import { denied, may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { Closed } from '../../parts/closed.tsx';
import { textIn } from '../../parts/form-text.ts';
import { moment } from '../../parts/format.ts';
import {
  Badge,
  Button,
  Card,
  Copyable,
  Dialog,
  ErrorNote,
  Field,
  HoldButton,
  Note,
} from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { clientLines } from './clients.ts';

type Minted = Answer<'mcp.tokens.post'>;

/** What a program is allowed, for each use; none of the classes implies another. */
const PRESETS = {
  look: ['read'],
  operate: ['read', 'safe_write'],
  fly: ['read', 'flight'],
  full: ['read', 'safe_write', 'admin', 'flight', 'destructive'],
} as const satisfies Record<string, readonly Scope[]>;
type Preset = keyof typeof PRESETS;
const DAYS = [1, 7, 30, 90, 365] as const;
const DAY_MS = 86_400_000;

/** Tokens of programs: AI clients above all. */
export function Tokens(): JSX.Element {
  const { data, error, reload } = useAsk('mcp.status.get');
  const [minted, setMinted] = useState<Minted | null>(null);
  const text = t.access.tokens;
  const closed = denied('mcp.tokens.post');
  return (
    <>
      <Card title={text.title}>
        <p>{text.hint}</p>
        <ErrorNote error={error} onRetry={reload} />
        {data?.problem == null ? null : <Note tone="bad">{data.problem}</Note>}
        {data?.accept_enabled === false ? (
          <Note tone="warn">
            <p>{text.off}</p>
            <Copyable label={text.offCommand} text="sudo svc mcp enable" />
          </Note>
        ) : null}
        {data?.accept_enabled === true ? <Badge tone="good">{text.on}</Badge> : null}
      </Card>
      <Card title={text.mint}>
        {closed === null ? (
          <Mint
            onMinted={(answer) => {
              setMinted(answer);
              reload();
            }}
          />
        ) : (
          <Closed why={closed} />
        )}
      </Card>
      <List tokens={data?.tokens ?? null} onChange={reload} />
      <Dialog title={text.minted} open={minted !== null} onClose={() => setMinted(null)}>
        {minted === null ? null : <Shown minted={minted} />}
      </Dialog>
    </>
  );
}

function Mint({ onMinted }: { onMinted: (answer: Minted) => void }): JSX.Element {
  const [preset, setPreset] = useState<Preset | 'own'>('look');
  const [own, setOwn] = useState<readonly Scope[]>(['read']);
  const act = useAct();
  const text = t.access.tokens;
  const scopes: readonly Scope[] = preset === 'own' ? own : PRESETS[preset];
  const mint = (form: FormData): void => {
    const nodes = textIn(form, 'nodes')
      .split(/[ ,]+/)
      .filter((each) => each !== '');
    void act.run(async () =>
      onMinted(
        await call('mcp.tokens.post', {
          body: {
            label: textIn(form, 'label').trim(),
            scopes: [...scopes],
            ttl_ms: Number(form.get('days')) * DAY_MS,
            ...(nodes.length === 0 ? {} : { allowed_nodes: nodes }),
          },
        }),
      ),
    );
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mint(new FormData(event.currentTarget));
      }}
    >
      <Field label={text.label} hint={text.labelHint}>
        {(ids) => <input {...ids} name="label" maxLength={64} />}
      </Field>
      <fieldset class={css['choices']}>
        <legend>{text.may}</legend>
        {([...keysOf(PRESETS), 'own'] as const).map((each) => (
          <label key={each} class="check">
            <input type="radio" name="preset" checked={preset === each} onChange={() => setPreset(each)} />
            <span>
              {text.presets[each]} {each === 'own' ? '' : <small>({PRESETS[each].join(', ')})</small>}
            </span>
          </label>
        ))}
      </fieldset>
      {preset === 'own' ? (
        <fieldset class={css['choices']}>
          <legend>{text.classes}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} class="check">
              <input
                type="checkbox"
                checked={own.includes(scope)}
                onChange={() =>
                  setOwn(own.includes(scope) ? own.filter((each) => each !== scope) : [...own, scope])
                }
              />
              <span>
                {scope}: {text.scopes[scope]}
              </span>
            </label>
          ))}
        </fieldset>
      ) : null}
      <Field label={text.life}>
        {(ids) => (
          <select {...ids} name="days" defaultValue="30">
            {DAYS.map((days) => (
              <option key={days} value={days} selected={days === 30}>
                {text.days(days)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={text.nodes} hint={text.nodesHint}>
        {(ids) => <input {...ids} name="nodes" />}
      </Field>
      {scopes.includes('flight') ? <Note tone="warn">{text.flies}</Note> : null}
      <ErrorNote error={act.error} />
      <Button type="submit" kind="primary" busy={act.busy} why={scopes.length === 0 ? text.chooseOne : null}>
        {text.mintNow}
      </Button>
    </form>
  );
}

function Shown({ minted }: { minted: Minted }): JSX.Element {
  const text = t.access.tokens;
  return (
    <>
      <Note tone="warn">{text.once}</Note>
      <Copyable label={text.token} text={minted.token} />
      <p class="hint">{text.until(moment(minted.expires_at))}</p>
      <h3>{text.paste}</h3>
      <p class="hint">{text.pasteHint}</p>
      {clientLines(location.host, minted.token, minted.scopes).map(({ id, text: line }) => (
        <div key={id}>
          <p>{text.clients[id]}</p>
          <Copyable label={text.clients[id]} text={line} />
        </div>
      ))}
    </>
  );
}

function List({
  tokens,
  onChange,
}: {
  tokens: Answer<'mcp.status.get'>['tokens'] | null;
  onChange: () => void;
}): JSX.Element {
  const act = useAct();
  const text = t.access.tokens;
  const revoke = (body: { token_id: string } | { all: true }): void => {
    void act.run(async () => {
      await call('mcp.revoke.post', { body });
      onChange();
    });
  };
  const live = tokens?.filter(({ revoked, expired }) => !revoked && !expired) ?? [];
  return (
    <Card
      title={text.list}
      wide
      actions={
        live.length > 0 && may('mcp.revoke.post') ? (
          <HoldButton kind="danger" busy={act.busy} onConfirm={() => revoke({ all: true })}>
            {text.revokeAll}
          </HoldButton>
        ) : null
      }
    >
      <ErrorNote error={act.error} />
      {tokens?.length === 0 ? <p>{text.none}</p> : null}
      <ul class={css['list']}>
        {tokens?.map((token) => (
          <li key={token.token_id}>
            <div>
              <strong>{token.label || token.token_id}</strong>{' '}
              {token.revoked ? <Badge tone="bad">{text.revoked}</Badge> : null}
              {!token.revoked && token.expired ? <Badge tone="warn">{text.expired}</Badge> : null}
              <p class="hint">
                {token.scopes.join(', ')} · {text.until(moment(token.expires_at))} · {token.token_id}
              </p>
            </div>
            {token.revoked || token.expired ? null : (
              <Button
                row="mcp.revoke.post"
                busy={act.busy}
                aria-label={text.revokeOne(token.label || token.token_id)}
                onClick={() => revoke({ token_id: token.token_id })}
              >
                {text.revoke}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
