import type { JSX } from 'preact';
import { clientLines } from '../../../../../shared/auth/client-lines.ts';
import type { Answer } from '../../api/rows.ts';
import { moment } from '../../parts/format.ts';
import { Copyable, Note, Unfold } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { t } from '../../strings.ts';
import { ScopeChips } from './scope-chips.tsx';

/** A new token, which is shown once, and the line for each client to paste. */
export function Minted({ minted }: { readonly minted: Answer<'mcp.tokens.post'> }): JSX.Element {
  const text = t.access.tokens;
  const [first, ...others] = clientLines({ host: location.host, token: minted.token, scopes: minted.scopes });
  return (
    <>
      <ScopeChips scopes={minted.scopes} />
      <Note tone="warn">{text.once}</Note>
      <Copyable label={text.token} text={minted.token} />
      <p class="hint">{text.until({ time: moment(minted.expires_at) })}</p>
      <h3>{t.access.ai.snippets}</h3>
      <p class="hint">{text.pasteHint}</p>
      {first === undefined ? null : <Line id={first.id} line={first.text} />}
      <Unfold title={t.access.ai.otherClients}>
        {others.map(({ id, text: line }) => (
          <Line key={id} id={id} line={line} />
        ))}
      </Unfold>
      <Unfold title={t.access.ai.qr}>
        <Qr text={minted.token} label={t.access.ai.qr} />
      </Unfold>
    </>
  );
}

function Line({
  id,
  line,
}: {
  readonly id: keyof typeof t.access.tokens.clients;
  readonly line: string;
}): JSX.Element {
  const name = t.access.tokens.clients[id];
  return (
    <>
      <p>
        <strong>{name}</strong>
      </p>
      <Copyable label={name} text={line} />
    </>
  );
}
