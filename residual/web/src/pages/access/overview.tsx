import { ArrowRight, Bot, Boxes, KeyRound, Lock, ScrollText, Users } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { info, may } from '../../api/node.ts';
import { hrefOf } from '../../app/route.ts';
import { moment } from '../../parts/format.ts';
import { Asked, Badge, Card, EmptyState, Icon } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { AuditRows, useAudit } from './audit-rows.tsx';
import { ConnectClient } from './connect-client.tsx';
import { FleetState, useFleet } from './fleet.tsx';
import { ScopeChips } from './scope-chips.tsx';
import { SecureSummary } from './secure.tsx';

const LOOK_MS = 10_000;
const SHOWN = 6;
const DONE: readonly string[] = ['done'];
const text = t.access.overview;

/** Who can do what on this node, at one look. */
export function Overview(): JSX.Element {
  return (
    <>
      <AiClients />
      <People />
      <Paired />
      <Card title={text.secure.title} icon={Lock} actions={<More to="connection" name={text.secure.open} />}>
        <SecureSummary />
      </Card>
      <OwnFleet />
      <Lately />
    </>
  );
}

function AiClients(): JSX.Element {
  const asked = useAsk('mcp.status.get', {}, LOOK_MS);
  const { data, reload } = asked;
  const live = (data?.tokens ?? []).filter(({ revoked, expired }) => !revoked && !expired);
  const flying = live.filter(({ scopes }) => scopes.includes('flight')).length;
  return (
    <Card title={t.access.ai.title} icon={Bot} actions={<More to="programs" name={t.access.ai.open} />}>
      <Asked of={asked} empty={() => (live.length === 0 ? <EmptyState text={t.access.ai.none} /> : null)}>
        {() => <p class={css['figure']}>{t.access.ai.count({ live: live.length })}</p>}
      </Asked>
      {data?.accept_enabled === false ? <p class="hint">{t.access.ai.off}</p> : null}
      {flying === 0 ? null : (
        <p>
          <Badge tone="warn">{t.access.ai.flies({ count: flying })}</Badge>
        </p>
      )}
      <ul class={css['list']}>
        {live.slice(0, SHOWN).map((token) => (
          <li key={token.token_id}>
            <div>
              <strong>{token.label || token.token_id}</strong>{' '}
              <small class="hint">{t.access.ai.until({ when: moment(token.expires_at) })}</small>
              <ScopeChips scopes={token.scopes} />
            </div>
          </li>
        ))}
      </ul>
      <ConnectClient off={data?.accept_enabled === false} onMinted={reload} />
    </Card>
  );
}

function People(): JSX.Element {
  const pin = useAsk('dashboard.pin.status.get').data;
  const asked = useAsk('dashboard.sessions.get', {}, LOOK_MS);
  const sessions = asked.data?.sessions;
  return (
    <Card title={text.people.title} icon={Users} actions={<More to="people" name={text.people.open} />}>
      <Asked of={asked}>
        {(data) => <p class={css['figure']}>{text.people.count({ signedIn: data.sessions.length })}</p>}
      </Asked>
      {pin === null ? null : <p>{pin.pin_set ? text.people.pin : text.people.noPin}</p>}
      <ul class={css['list']}>
        {sessions?.slice(0, SHOWN).map(({ id, peer, device, current, last_seen_at: seen }) => (
          <li key={id}>
            <div>
              {device ?? t.access.sessions.unknownDevice}{' '}
              {current ? <Badge tone="good">{t.access.sessions.current}</Badge> : null}
            </div>
            <small class="hint">
              {[peer, seen === null ? null : moment(seen * 1000)].filter(Boolean).join(' · ')}
            </small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Paired(): JSX.Element | null {
  const who = info.value;
  if (who === null) return null;
  return (
    <Card
      title={t.access.pairing.title}
      icon={KeyRound}
      actions={<More to="people" name={text.pairing.open} />}
    >
      <p>
        <Badge tone={who.paired ? 'good' : 'warn'}>
          {who.paired ? t.access.pairing.paired : t.access.pairing.unpaired}
        </Badge>{' '}
        {who.paired_at === null ? '' : moment(who.paired_at * 1000)}
      </p>
      <p>{who.paired ? text.pairing.paired : text.pairing.unpaired}</p>
    </Card>
  );
}

function OwnFleet(): JSX.Element | null {
  const asked = useFleet();
  if (!may('fleet.get')) return null;
  return (
    <Card title={t.access.fleet.title} icon={Boxes} actions={<More to="fleet" name={text.fleet.open} />}>
      <Asked
        of={asked}
        empty={({ enrollment }) => (enrollment.enrolled ? null : <EmptyState text={t.access.fleet.none} />)}
      >
        {(told) => <FleetState told={told} />}
      </Asked>
    </Card>
  );
}

/** What was refused comes first to the eye; the whole record is behind its name. */
function Lately(): JSX.Element {
  const asked = useAudit(LOOK_MS);
  return (
    <Card title={text.audit.title} icon={ScrollText} actions={<More to="audit" name={text.audit.open} />}>
      <Asked of={asked} empty={({ length }) => (length === 0 ? <EmptyState text={text.audit.none} /> : null)}>
        {(entries) => (
          <AuditRows
            isBrief
            entries={entries
              .slice(0, 5 * SHOWN)
              .toSorted((a, b) => Number(DONE.includes(a.outcome)) - Number(DONE.includes(b.outcome)))
              .slice(0, SHOWN)
              .toSorted((a, b) => b.seq - a.seq)}
          />
        )}
      </Asked>
    </Card>
  );
}

function More({ to, name }: { readonly to: string; readonly name: ComponentChildren }): JSX.Element {
  return (
    <a class={css['more']} href={hrefOf('access', to)}>
      {name} <Icon of={ArrowRight} />
    </a>
  );
}
