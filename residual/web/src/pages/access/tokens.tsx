import { Bot, BotOff, Trash2 } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { moment } from '../../parts/format.ts';
import {
  Asked,
  Badge,
  Button,
  Card,
  EmptyState,
  ErrorNote,
  HoldButton,
  Icon,
  Note,
  Unfold,
} from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { ConnectClient } from './connect-client.tsx';
import { ScopeChips } from './scope-chips.tsx';
import { TokensOff } from './tokens-off.tsx';

type Token = Answer<'mcp.status.get'>['tokens'][number];

/** Tokens of programs: AI clients above all. */
export function Tokens(): JSX.Element {
  const asked = useAsk('mcp.status.get');
  const { data, reload } = asked;
  return (
    <>
      <Asked of={asked} />
      {data?.problem == null ? null : <Note tone="bad">{data.problem}</Note>}
      {data?.accept_enabled === false ? <TokensOff /> : null}
      <TokenList
        tokens={data?.tokens ?? null}
        onChange={reload}
        actions={<ConnectClient off={data?.accept_enabled === false} onMinted={reload} />}
      />
    </>
  );
}

/** Those that are good, each with what it may; the others behind their name. */
function TokenList({
  tokens,
  onChange,
  actions,
}: {
  readonly tokens: readonly Token[] | null;
  readonly onChange: () => void;
  readonly actions: ComponentChildren;
}): JSX.Element {
  const act = useAct();
  const text = t.access.tokens;
  const revoke = (body: { token_id: string } | { all: true }): void => {
    void act.run(async () => {
      await call('mcp.revoke.post', { body });
      onChange();
    });
  };
  const live = (tokens ?? []).filter(({ revoked, expired }) => !revoked && !expired);
  const gone = (tokens ?? []).filter(({ revoked, expired }) => revoked || expired);
  return (
    <Card title={text.list} icon={Bot} wide actions={actions}>
      <p class="hint">{text.hint}</p>
      <ErrorNote error={act.error} />
      {live.length === 0 && tokens !== null ? <EmptyState icon={BotOff} text={t.access.ai.none} /> : null}
      <ul class={css['list']}>
        {live.map((token) => (
          <li key={token.token_id}>
            <Icon of={Bot} />
            <div>
              <strong>{token.label || token.token_id}</strong>
              <ScopeChips scopes={token.scopes} />
              <p class="hint">
                {text.until({ time: moment(token.expires_at) })} · {token.token_id}
              </p>
            </div>
            <Button
              icon={Trash2}
              row="mcp.revoke.post"
              busy={act.busy}
              aria-label={text.revokeOne({ name: token.label || token.token_id })}
              onClick={() => revoke({ token_id: token.token_id })}
            >
              {text.revoke}
            </Button>
          </li>
        ))}
      </ul>
      {gone.length === 0 ? null : (
        <Unfold title={`${t.access.ai.gone} (${gone.length})`} icon={BotOff}>
          <ul class={css['list']}>
            {gone.map((token) => (
              <li key={token.token_id}>
                <div>
                  <strong>{token.label || token.token_id}</strong>{' '}
                  <Badge tone={token.revoked ? 'bad' : 'warn'}>
                    {token.revoked ? text.revoked : text.expired}
                  </Badge>
                  <ScopeChips scopes={token.scopes} />
                </div>
              </li>
            ))}
          </ul>
        </Unfold>
      )}
      {live.length > 1 && may('mcp.revoke.post') ? (
        <HoldButton kind="danger" icon={Trash2} busy={act.busy} onConfirm={() => revoke({ all: true })}>
          {text.revokeAll}
        </HoldButton>
      ) : null}
    </Card>
  );
}
