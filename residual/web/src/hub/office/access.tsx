import { Bot, Plus, UserPlus, UserRound } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ScopeChips } from '../../pages/access/scope-chips.tsx';
import { moment } from '../../parts/format.ts';
import {
  Asked,
  Button,
  Card,
  Copyable,
  Dialog,
  EmptyState,
  ErrorNote,
  HoldButton,
  Icon,
  Note,
} from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import type { Holder, Minted } from '../answers.ts';
import { ask, me } from '../client.ts';
import { nodeName } from '../fleet/node-name.ts';
import { hub } from '../hub-words.ts';
import { useHub } from '../use-hub.ts';
import css from './hub-office.module.css';
import { type Kind, Mint } from './mint.tsx';
import { labelText } from './tags.ts';

const KINDS = ['operators', 'credentials'] as const satisfies readonly Kind[];
const ICONS = { operators: UserRound, credentials: Bot } as const;

/** Who may do what at this hub: people, and programs. */
export function Access(): JSX.Element {
  return (
    <div class={css['kinds']}>
      {KINDS.map((kind) => (
        <Holders key={kind} kind={kind} />
      ))}
    </div>
  );
}

function Holders({ kind }: { readonly kind: Kind }): JSX.Element {
  const asked = useHub<Readonly<Record<Kind, readonly Holder[]>>>(`/v1/${kind}`);
  const { data, reload } = asked;
  const [isMaking, setMaking] = useState(false);
  const [minted, setMinted] = useState<Minted | null>(null);
  const act = useAct();
  const text = hub.access[kind];
  const holders = data?.[kind];
  // Who is known by a provider gives no access that would outlast them.
  const mayMint = typeof me.value?.expires_at !== 'number';
  const end = async (id: string): Promise<void> => {
    await ask(`/v1/${kind}/${encodeURIComponent(id)}`, { method: 'DELETE' });
    reload();
  };
  const close = (): void => {
    setMaking(false);
    setMinted(null);
  };
  return (
    <Card
      title={text.title}
      icon={ICONS[kind]}
      actions={
        mayMint ? (
          <Button
            kind="primary"
            icon={kind === 'operators' ? UserPlus : Plus}
            aria-haspopup="dialog"
            onClick={() => setMaking(true)}
          >
            {text.mint}
          </Button>
        ) : null
      }
    >
      <p class="hint">{mayMint ? text.hint : hub.access.notYours}</p>
      <Asked
        of={asked}
        empty={(all) => (all[kind].length === 0 ? <EmptyState icon={ICONS[kind]} text={text.none} /> : null)}
      />
      <ErrorNote error={act.error} />
      <ul class={css['holders']}>
        {holders?.map((holder) => (
          <li key={holder.id}>
            <One
              holder={holder}
              kind={kind}
              isBusy={act.busy}
              onEnd={() => void act.run(async () => end(holder.id))}
            />
          </li>
        ))}
      </ul>
      <Dialog
        sheet
        title={minted === null ? text.mint : text.minted}
        open={isMaking || minted !== null}
        onClose={close}
      >
        {minted === null ? (
          <Mint
            kind={kind}
            onMinted={(answer) => {
              setMinted(answer);
              reload();
            }}
          />
        ) : (
          <Given kind={kind} minted={minted} />
        )}
      </Dialog>
    </Card>
  );
}

/** Who, with what rights in words, where, and since when. */
function One({
  holder,
  kind,
  isBusy,
  onEnd,
}: {
  readonly holder: Holder;
  readonly kind: Kind;
  readonly isBusy: boolean;
  readonly onEnd: () => void;
}): JSX.Element {
  const text = hub.access;
  const name = holder.label ?? holder.name ?? holder.id;
  const about = [
    ...(holder.group == null ? [] : [text.byGroup({ group: holder.group })]),
    text.made({ when: moment(holder.made_at), by: holder.operator ?? null }),
    ...(holder.used_at === undefined
      ? []
      : [holder.used_at === null ? text.neverUsed : text.used({ when: moment(holder.used_at) })]),
    ...(holder.expires_at == null ? [] : [text.until({ when: moment(holder.expires_at) })]),
  ];
  return (
    <>
      <span class={css['face']}>
        <Icon of={ICONS[kind]} />
      </span>
      <div>
        <h3 title={holder.id}>
          {name}
          {holder.id === me.value?.id ? <small>{text.you}</small> : null}
        </h3>
        <ScopeChips scopes={holder.scopes} />
        <Where holder={holder} />
        <p class="hint">{about.join(' · ')}</p>
      </div>
      <HoldButton kind="plain" busy={isBusy} label={text.endOne({ name })} onConfirm={onEnd}>
        {text.end}
      </HoldButton>
    </>
  );
}

/** On which nodes: all, those that are listed, those with a tag. */
function Where({ holder: { nodes, tags = [] } }: { readonly holder: Holder }): JSX.Element {
  const text = hub.access;
  const parts = [
    ...(tags.length === 0 ? [] : [text.tagged({ tags: tags.map(labelText).join(', ') })]),
    ...(nodes === null || (nodes.length === 0 && tags.length > 0)
      ? []
      : [`${text.nodeCount({ count: nodes.length })}: ${nodes.map(nodeName).join(', ')}`]),
  ];
  return (
    <p class={css['where']} title={[...tags, ...(nodes ?? [])].join(', ')}>
      {nodes === null ? text.everyNode : parts.join(' · ')}
    </p>
  );
}

/** What was made, once. */
function Given({ kind, minted }: { readonly kind: Kind; readonly minted: Minted }): JSX.Element {
  const text = hub.access;
  return (
    <>
      <Note tone="warn">{text.once}</Note>
      <Copyable label={text[kind].minted} text={minted.credential} />
      {kind === 'operators' ? null : (
        <>
          <p>{text.use}</p>
          <Copyable
            label={text.use}
            text={`SVC_MCP_TOKEN=${minted.credential} svc-mcp --target fleet --gcs ${location.origin}`}
          />
        </>
      )}
    </>
  );
}
