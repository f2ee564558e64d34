import { signal } from '@preact/signals';
import { Bot } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { SCOPES, type Scope } from '../../../../../shared/auth/scopes.ts';
import { keysOf } from '../../../../../shared/member.ts';
import { call } from '../../api/client.ts';
import { denied } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { Closed } from '../../parts/closed.tsx';
import { textIn } from '../../parts/form/form-text.ts';
import { Button, Dialog, ErrorNote, Field, Icon, Note, Unfold } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { Minted } from './minted.tsx';
import { PRESET_ICONS } from './scope-chips.tsx';
import { TokensOff } from './tokens-off.tsx';

type Token = Answer<'mcp.tokens.post'>;

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

/** Where it was opened. Not of the component: with the key that is asked for the page is another caller, and is built anew. */
const openedAt = signal<string | null>(null);

/** A button that gives a program its own access: what it may, then what to paste there. Reading alone is chosen at first. */
export function ConnectClient({
  off,
  onMinted,
}: {
  /** The node takes no token. */
  readonly off: boolean;
  readonly onMinted: () => void;
}): JSX.Element {
  const isOpen = openedAt.value === location.hash;
  useEffect(
    () => () => {
      if (openedAt.peek() !== location.hash) openedAt.value = null;
    },
    [],
  );
  const [token, setToken] = useState<Token | null>(null);
  const text = t.access.tokens;
  const closed = denied('mcp.tokens.post');
  const close = (): void => {
    openedAt.value = null;
    setToken(null);
  };
  return (
    <>
      <Button kind="primary" icon={Bot} onClick={() => (openedAt.value = location.hash)}>
        {t.access.ai.connect}
      </Button>
      <Dialog sheet title={token === null ? t.access.ai.connect : text.minted} open={isOpen} onClose={close}>
        {off ? <TokensOff /> : null}
        {token !== null ? (
          <Minted minted={token} />
        ) : closed === null ? (
          <Mint
            onMinted={(answer) => {
              setToken(answer);
              onMinted();
            }}
          />
        ) : (
          <Closed why={closed} />
        )}
      </Dialog>
    </>
  );
}

function Mint({ onMinted }: { onMinted: (answer: Token) => void }): JSX.Element {
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
        {(ids) => <input {...ids} name="label" maxLength={64} defaultValue={t.access.ai.defaultName} />}
      </Field>
      <fieldset class={css['choices']}>
        <legend>{text.may}</legend>
        {([...keysOf(PRESETS), 'own'] as const).map((each) => (
          <label key={each} class={css['preset']}>
            <input type="radio" name="preset" checked={preset === each} onChange={() => setPreset(each)} />
            <Icon of={PRESET_ICONS[each]} />
            <span>
              {text.presets[each]}
              {each === 'own' ? null : <small>{PRESETS[each].join(', ')}</small>}
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
                {text.days({ n: days })}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Unfold title={t.access.ai.more}>
        <Field label={text.nodes} hint={text.nodesHint}>
          {(ids) => <input {...ids} name="nodes" />}
        </Field>
      </Unfold>
      {scopes.includes('flight') ? <Note tone="warn">{text.flies}</Note> : null}
      <ErrorNote error={act.error} />
      <Button type="submit" kind="primary" busy={act.busy} why={scopes.length === 0 ? text.chooseOne : null}>
        {text.mintNow}
      </Button>
    </form>
  );
}
