import type { JSX } from 'preact';
import { hrefOf, place } from '../../app/route.ts';
import { Badge, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Detail } from './detail.tsx';
import css from './extensions.module.css';
import { Install } from './install.tsx';
import { toneOf } from './status.ts';

const LOOK_MS = 5000;

/** What other people's software runs on the node: seen, installed, allowed, switched and removed here. */
export default function Extensions(): JSX.Element {
  const [id] = place.value.rest;
  return id === undefined ? <List /> : <Detail key={id} id={id} />;
}

function List(): JSX.Element {
  const { data, error, reload } = useAsk('plugins.get', {}, LOOK_MS);
  const installs = data?.installs ?? [];
  return (
    <div class="page">
      <Card title={t.extensions.installed} wide>
        <ErrorNote error={error} onRetry={reload} />
        {data !== null && installs.length === 0 ? <Note>{t.extensions.none}</Note> : null}
        <ul class={css['extension-list']}>
          {installs.map((install) => (
            <li key={install.plugin_id}>
              <a href={hrefOf('extensions', install.plugin_id)}>
                <strong>{install.plugin_id}</strong>
                <span class="hint">{install.version}</span>
                <Badge tone={toneOf(install.status)}>{t.extensions.status[install.status]}</Badge>
              </a>
              {install.failure_reason === null ? null : <p class="error">{install.failure_reason}</p>}
            </li>
          ))}
        </ul>
      </Card>
      <Install installed={installs} onDone={reload} />
    </div>
  );
}
