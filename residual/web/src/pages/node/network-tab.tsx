import { Antenna } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../api/rows.ts';
import { place } from '../../app/route.ts';
import { HotspotForm } from '../../network/hotspot.tsx';
import { NetworkError } from '../../network/network-error.tsx';
import { Asked, Badge, Card, Unfold } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Ethernet } from './ethernet.tsx';
import { Adapters } from './mac-addresses.tsx';
import { Modems } from './modems.tsx';
import { PathPicture } from './path-picture.tsx';
import { Uplinks } from './uplinks.tsx';
import { Wifi } from './wifi.tsx';

type State = Answer<'network.get'>;

const EVERY_MS = 10_000;

/** The path to the world as a picture, then what each part of it can be set to. */
export function NetworkTab(): JSX.Element {
  const asked = useAsk('network.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const text = t.node.network;
  const box = useRef<HTMLDivElement>(null);
  // Whoever touched a part of the path comes to its card.
  const [, part] = place.value.rest;
  const known = data !== null;
  useEffect(() => {
    if (known && part !== undefined)
      box.current?.querySelector(`[data-part="${CSS.escape(part)}"]`)?.scrollIntoView({ block: 'start' });
  }, [known, part, place.value]);
  return (
    <div ref={box}>
      <PathPicture network={data} />
      <NetworkError error={asked.error} onRetry={asked.reload} />
      <Asked of={{ ...asked, error: null }} />
      {data === null ? null : (
        <div class="columns">
          <div data-part="wifi">
            <Wifi onChange={reload} />
          </div>
          <div data-part="hotspot">
            <Card title={text.hotspot.title} icon={Antenna}>
              <HotspotForm row="network.hotspot.put" state={data.hotspot} onChange={reload} />
            </Card>
          </div>
          <div data-part="modem">
            <Modems onChange={reload} />
          </div>
          <div data-part="uplinks">
            <Uplinks state={data} />
          </div>
          <div data-part="ethernet">
            <Ethernet state={data} onChange={reload} />
          </div>
          <Adapters />
        </div>
      )}
      {data === null ? null : (
        <section class="card" aria-label={text.interfaces}>
          <Unfold title={text.count({ n: data.interfaces.length })}>
            <Interfaces state={data} />
          </Unfold>
        </section>
      )}
    </div>
  );
}

function Interfaces({ state }: { state: State }): JSX.Element {
  const text = t.node.network;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={text.interfaces}>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.name}</th>
            <th scope="col">{text.kind}</th>
            <th scope="col">{text.state}</th>
            <th scope="col">{text.addresses}</th>
            <th scope="col">{text.gateway}</th>
            <th scope="col">MAC</th>
          </tr>
        </thead>
        <tbody>
          {state.interfaces.map((each) => (
            <tr key={each.name}>
              <th scope="row">{each.name}</th>
              <td>{each.radio === true ? text.radioCard : each.kind}</td>
              <td>
                <Badge tone={each.state === 'connected' ? 'good' : 'info'}>{each.state}</Badge>
              </td>
              <td>{each.addresses.join(', ') || t.app.none}</td>
              <td>{each.gateway ?? t.app.none}</td>
              <td>{each.mac ?? t.app.none}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
