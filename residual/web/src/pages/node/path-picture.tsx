import {
  Cable,
  CardSim,
  Cloud,
  CloudOff,
  Drone,
  Globe,
  type IconNode,
  Laptop,
  RadioTower,
  TriangleAlert,
  Wifi,
} from 'lucide';
import type { JSX } from 'preact';
import { info, isGround } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { hrefOf } from '../../app/route.ts';
import { Icon } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { fleetLink, type PathLink, type PathParts, radioLink, uplinkLink } from './network-path.ts';
import css from './path.module.css';

const ICONS: Readonly<Record<PathLink['kind'], IconNode>> = {
  radio: RadioTower,
  wifi: Wifi,
  ethernet: Cable,
  modem: CardSim,
  none: CloudOff,
  fleet: Cloud,
};
const EVERY_MS = 5000;

/** The path from the drone over radio and uplink to the world, each link with its quality. Each part leads to its settings. */
export function PathPicture({ network }: { readonly network: Answer<'network.get'> | null }): JSX.Element {
  const parts: PathParts = {
    network,
    radio: useAsk('wfb.get', {}, EVERY_MS).data,
    wifi: useAsk('network.client.status.get', {}, EVERY_MS).data,
    modems: useAsk('network.modem.get', {}, EVERY_MS * 3).data,
    fleet: useAsk('fleet.get', {}, EVERY_MS).data,
  };
  const text = t.node.network.path;
  const ground = isGround.value;
  const radio = radioLink(parts);
  const uplink = uplinkLink(parts);
  const fleet = fleetLink(parts);
  const weak = [radio, uplink, fleet].flatMap((link) => (link?.weak == null ? [] : [link]));
  const peers = parts.radio?.links ?? [];
  const peer = peers.map(({ name, device_id: id }) => name || id).filter(Boolean)[0];
  return (
    <section class={`card wide ${css['path']}`} aria-label={text.title}>
      <ol>
        {radio === null ? null : (
          <>
            <Place
              icon={ground ? Drone : RadioTower}
              name={peer ?? (ground ? text.drone : text.ground)}
              kind={ground ? text.drone : text.ground}
              href={ground ? hrefOf('ground') : hrefOf('node', 'radio')}
            />
            <Line link={radio} />
          </>
        )}
        <Place
          icon={ground ? RadioTower : Drone}
          name={info.value?.name ?? text.here}
          kind={text.here}
          here
          href={hrefOf('node', 'overview')}
        />
        <Line link={uplink} />
        <Place
          icon={uplink.kind === 'none' ? CloudOff : Globe}
          name={text.internet}
          kind={uplink.kind === 'none' && network !== null ? text.notNeeded : ''}
          faint={uplink.kind === 'none'}
          href={hrefOf('node', 'network', 'uplinks')}
        />
        {fleet === null ? null : (
          <>
            <Line link={fleet} />
            <Place icon={Laptop} name={text.hub} kind={text.fleet} href={hrefOf('access', 'fleet')} />
          </>
        )}
      </ol>
      {weak.map((link) => (
        <p key={link.id} class={`${css['weak']} ${link.tone}`} role="status">
          <Icon of={TriangleAlert} />
          <span>
            <strong>{text.weakLink({ name: link.name })}</strong> {link.weak}
          </span>
        </p>
      ))}
    </section>
  );
}

function Place({
  icon,
  name,
  kind,
  href,
  here = false,
  faint = false,
}: {
  readonly icon: IconNode;
  readonly name: string;
  readonly kind: string;
  readonly href: string;
  readonly here?: boolean;
  readonly faint?: boolean;
}): JSX.Element {
  return (
    <li class={`${css['place']} ${here ? css['here'] : ''} ${faint ? css['faint'] : ''}`}>
      <a href={href}>
        <span class={css['disc']}>
          <Icon of={icon} />
        </span>
        <strong>{name}</strong>
        <small>{kind}</small>
      </a>
    </li>
  );
}

function Line({ link }: { readonly link: PathLink }): JSX.Element {
  return (
    <li class={`${css['line']} ${link.tone}`}>
      <a href={hrefOf(...link.at)}>
        <span class={css['name']}>
          <Icon of={ICONS[link.kind]} />
          {link.name}
        </span>
        <span class={css['stroke']} aria-hidden="true" />
        <span class={css['quality']}>
          {link.figures ?? t.app.none}
          <span class="visually-hidden"> ({t.node.network.path.tones[link.tone]})</span>
        </span>
      </a>
    </li>
  );
}
