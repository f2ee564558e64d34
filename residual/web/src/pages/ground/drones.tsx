import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { relayed } from '../../api/relay.ts';
import type { Answer } from '../../api/rows.ts';
import { go } from '../../app/route.ts';
import { moment } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, ErrorNote } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import nodeCss from '../node/node.module.css';
import { type Radio, radioTone } from '../node/radio/radio-state.tsx';
import css from './ground.module.css';

type Drone = Answer<'ground-station.drones.get'>['drones'][number];

const EVERY_MS = 2000;

export function Drones(): JSX.Element {
  const { data, error, reload } = useAsk('ground-station.drones.get', {}, EVERY_MS);
  const act = useGuarded();
  const text = t.ground.drones;
  const choose = (id: string): void => {
    void act.run(async (force) => {
      await call('ground-station.drones.active.put', { body: forced(force, { device_id: id }) });
      reload();
    });
  };
  return (
    <Card title={text.title} wide>
      <ErrorNote error={error} onRetry={reload} />
      <GuardNote act={act} />
      {data?.drones.length === 0 ? <p>{text.none}</p> : null}
      <ul class={nodeCss['items']}>
        {data?.drones.map((drone) => (
          <li key={drone.device_id} class={drone.device_id === data.active ? css['drone-active'] : ''}>
            <div>
              <strong>{drone.name || drone.device_id}</strong> <Link drone={drone} />{' '}
              {drone.device_id === data.active ? <Badge tone="good">{text.active}</Badge> : null}
              <p class="hint">{text.item(drone.device_id, drone.slot, moment(drone.last_seen))}</p>
            </div>
            <div class="row">
              {drone.device_id === data.active ? null : (
                <Button
                  row="ground-station.drones.active.put"
                  busy={act.busy}
                  aria-label={text.chooseOne(drone.name || drone.device_id)}
                  onClick={() => choose(drone.device_id)}
                >
                  {text.choose}
                </Button>
              )}
              <Button
                kind="primary"
                aria-label={text.openOne(drone.name || drone.device_id)}
                onClick={() => {
                  relayed.value = { deviceId: drone.device_id, name: drone.name || drone.device_id };
                  go('fly');
                }}
              >
                {text.open}
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Link({ drone }: { drone: Drone }): JSX.Element {
  const state = Object.keys(t.node.radio.states).find((name): name is Radio['state'] => name === drone.link);
  return state === undefined || drone.quality === null ? (
    <Badge>{t.ground.drones.unknown}</Badge>
  ) : (
    <Badge tone={radioTone({ quality: drone.quality })}>{t.node.radio.states[state]}</Badge>
  );
}
