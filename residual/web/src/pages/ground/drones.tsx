import { Check, Drone as DroneIcon, Link2, SquareArrowOutUpRight } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { relayed } from '../../api/relay.ts';
import type { Answer } from '../../api/rows.ts';
import { go, hrefOf } from '../../app/route.ts';
import { type Radio, radioTone } from '../../network/radio/radio-state.tsx';
import { moment, number } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Asked, Badge, Button, Card, EmptyState, Icon } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './ground.module.css';

type Drone = Answer<'ground-station.drones.get'>['drones'][number];

const EVERY_MS = 2000;
// What these cards hear: at -90 dBm nothing decodes any more, -50 dBm is as good as it gets.
const WEAKEST_DBM = -90;
const STRONGEST_DBM = -50;
const BARS = 4;

/** The drones that are bound to this ground station: which is heard how well, and which one is flown. */
export function Drones(): JSX.Element {
  const asked = useAsk('ground-station.drones.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const radio = useAsk('wfb.get', {}, EVERY_MS).data;
  const act = useGuarded();
  const text = t.ground.drones;
  const choose = (id: string): void => {
    void act.run(async (force) => {
      await call('ground-station.drones.active.put', { body: forced(force, { device_id: id }) });
      reload();
    });
  };
  return (
    <Card title={text.title} icon={DroneIcon} wide>
      <Asked of={asked} />
      <GuardNote act={act} />
      {data?.drones.length === 0 ? (
        <EmptyState icon={DroneIcon} text={text.none}>
          <a class="button primary" href={hrefOf('setup', 'radio')}>
            <Icon of={Link2} /> {text.bind}
          </a>
        </EmptyState>
      ) : null}
      <ul class={css['drones']}>
        {data?.drones.map((drone) => (
          <OneDrone
            key={drone.device_id}
            drone={drone}
            // The figures of the radio are those of the drone that it listens to.
            rssi={drone.device_id === data.active ? (radio?.rssi_dbm ?? null) : null}
            active={drone.device_id === data.active}
            busy={act.busy}
            onChoose={() => choose(drone.device_id)}
          />
        ))}
      </ul>
    </Card>
  );
}

function OneDrone({
  drone,
  rssi,
  active,
  busy,
  onChoose,
}: {
  readonly drone: Drone;
  readonly rssi: number | null;
  readonly active: boolean;
  readonly busy: boolean;
  readonly onChoose: () => void;
}): JSX.Element {
  const text = t.ground.drones;
  const { device_id: id, slot, last_seen: seen } = drone;
  const name = drone.name || id;
  return (
    <li class={active ? css['drone-active'] : ''}>
      <div class={css['drone-head']}>
        <span class={css['disc']}>
          <Icon of={DroneIcon} />
        </span>
        <div>
          <strong>{name}</strong>
          <p class="hint">{text.item({ id, slot })}</p>
        </div>
        <Bars rssi={rssi} />
      </div>
      <div class="row">
        {active ? <Badge tone="good">{text.active}</Badge> : null}
        <Link drone={drone} />
        <span class="hint">{seen === null ? text.never : text.seen({ when: moment(seen) })}</span>
      </div>
      <div class="row">
        <Button
          kind={active ? 'primary' : 'plain'}
          icon={SquareArrowOutUpRight}
          aria-label={text.openOne({ name })}
          onClick={() => {
            relayed.value = { deviceId: id, name };
            go('fly');
          }}
        >
          {text.open}
        </Button>
        {active ? null : (
          <Button
            icon={Check}
            row="ground-station.drones.active.put"
            busy={busy}
            aria-label={text.chooseOne({ name })}
            onClick={onChoose}
          >
            {text.choose}
          </Button>
        )}
      </div>
    </li>
  );
}

/** Signal as bars, with its figure. */
function Bars({ rssi }: { readonly rssi: number | null }): JSX.Element {
  const part = rssi === null ? 0 : (rssi - WEAKEST_DBM) / (STRONGEST_DBM - WEAKEST_DBM);
  const lit = rssi === null ? 0 : Math.max(1, Math.round(Math.min(1, part) * BARS));
  return (
    <div class={css['bars']}>
      <span aria-hidden="true">
        {Array.from({ length: BARS }, (_, at) => (
          <i key={at} class={at < lit ? css['lit'] : ''} />
        ))}
      </span>
      <small>{rssi === null ? t.app.none : `${number(rssi)} dBm`}</small>
    </div>
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
