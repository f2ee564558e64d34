import { ChevronRight, Plus, Puzzle } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { hrefOf, place } from '../../app/route.ts';
import css from '../../extensions/extensions.module.css';
import { type Detailed, type Installed, toneOf } from '../../extensions/status.ts';
import { Asked, Badge, Button, Copyable, Dialog, EmptyState, Icon } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Detail } from './detail.tsx';
import { ExtensionIcon } from './extension-icon.tsx';
import { Install } from './install.tsx';
import { permissionIcon } from './permission-icon.ts';

const LOOK_MS = 5000;
const SHOWN = 4;
const text = t.extensions;

/** What other people's software runs on the node: seen, installed, allowed, switched and removed here. */
export default function Extensions(): JSX.Element {
  const [id] = place.value.rest;
  return id === undefined ? <List /> : <Detail key={id} id={id} />;
}

function List(): JSX.Element {
  const asked = useAsk('plugins.get', {}, LOOK_MS);
  const { data, reload } = asked;
  const [adds, setAdds] = useState(false);
  const installs = data?.installs ?? [];
  const details = useDetails(installs);
  const add = may('plugins.parse.post') ? (
    <Button kind="primary" icon={Plus} onClick={() => setAdds(true)}>
      {text.add}
    </Button>
  ) : null;
  return (
    <>
      <header class={css['head']}>
        <h2>{t.extensions.installed}</h2>
        {installs.length === 0 ? null : add}
      </header>
      <Asked
        of={asked}
        empty={() =>
          installs.length > 0 ? null : (
            <div class="card">
              <EmptyState icon={Puzzle} text={t.extensions.none}>
                <p class="hint">{text.emptyHint}</p>
                {add}
                <p class="hint">{text.emptyOwn}</p>
                <div class={css['own-command']}>
                  <Copyable label={text.ownCommand} text="svc plugin init battery-report" />
                </div>
              </EmptyState>
            </div>
          )
        }
      />
      <div class={css['cards']}>
        {installs.map((install) => (
          <ExtensionCard
            key={install.plugin_id}
            install={install}
            data={details.get(install.plugin_id) ?? null}
          />
        ))}
      </div>
      <Dialog sheet title={text.add} open={adds} onClose={() => setAdds(false)}>
        <Install
          installed={installs}
          onDone={() => {
            reload();
            setAdds(false);
          }}
        />
      </Dialog>
    </>
  );
}

function ExtensionCard({
  install,
  data,
}: {
  readonly install: Installed;
  readonly data: Detailed | null;
}): JSX.Element {
  const { plugin_id: id, version, status, failure_reason: failure } = install;
  const manifest = data?.manifest ?? null;
  const granted = (manifest?.permissions ?? []).filter((each) =>
    data?.granted_capabilities.includes(each.id),
  );
  return (
    <a class={`card ${css['extension']}`} href={hrefOf('extensions', id)}>
      <header>
        <ExtensionIcon id={id} />
        <div>
          <h3>{manifest?.name ?? id}</h3>
          <p class="hint">
            {version}
            {manifest?.author === undefined || manifest.author === ''
              ? ''
              : ` · ${text.by({ author: manifest.author })}`}
          </p>
        </div>
        <Badge tone={toneOf(status)}>{t.extensions.status[status]}</Badge>
      </header>
      {manifest?.description === undefined ? null : <p>{manifest.description}</p>}
      {failure === null ? null : <p class="error">{failure}</p>}
      {manifest === null ? null : granted.length === 0 ? (
        <p class="hint">{text.mayNothing}</p>
      ) : (
        <ul class={css['grants']} aria-label={text.may}>
          {granted
            .toSorted((a, b) => RISKS.indexOf(b.risk) - RISKS.indexOf(a.risk))
            .slice(0, SHOWN)
            .map((each) => (
              <li key={each.id} class={RISKS.indexOf(each.risk) > 1 ? css['grave'] : ''}>
                <Icon of={permissionIcon(each.category)} /> {each.label}
              </li>
            ))}
          {granted.length > SHOWN ? (
            <li class="hint">{text.moreGrants({ count: granted.length - SHOWN })}</li>
          ) : null}
        </ul>
      )}
      <span class={css['way']}>
        {text.open} <Icon of={ChevronRight} />
      </span>
    </a>
  );
}

const RISKS = ['low', 'medium', 'high', 'critical'] as const;

/** Name, author and permissions of each; asked again when one of them changes. */
function useDetails(installs: readonly Installed[]): ReadonlyMap<string, Detailed> {
  const [details, setDetails] = useState<ReadonlyMap<string, Detailed>>(new Map());
  useEffect(() => {
    const stopped = new AbortController();
    const { signal } = stopped;
    const look = async (id: string): Promise<readonly (readonly [string, Detailed])[]> => {
      try {
        return [[id, await call('plugins.id.get', { params: { id }, signal })]];
      } catch (error) {
        if (signal.aborted || error instanceof Refused) return []; // it was removed just now, or the node is away
        throw error;
      }
    };
    void Promise.all(installs.map(async ({ plugin_id: id }) => look(id))).then((found) => {
      if (!signal.aborted) setDetails(new Map(found.flat()));
    });
    return () => stopped.abort();
  }, [JSON.stringify(installs)]);
  return details;
}
