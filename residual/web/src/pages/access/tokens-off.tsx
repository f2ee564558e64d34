import type { JSX } from 'preact';
import { Copyable, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';

/** No token opens this node, whatever it may: only root turns that on. */
export function TokensOff(): JSX.Element {
  return (
    <Note tone="warn">
      <p>{t.access.tokens.off}</p>
      <Copyable label={t.access.tokens.offCommand} text="sudo svc mcp enable" />
    </Note>
  );
}
