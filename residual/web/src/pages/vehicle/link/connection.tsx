import { Cpu, Laptop, Usb } from 'lucide';
import type { JSX } from 'preact';
import { bytes, number, span } from '../../../parts/format.ts';
import { Asked, Badge, Card, EmptyState, Note, Stat } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../vehicle.module.css';

const LOOK_MS = 2000;

/** Where the vehicle is reached, and who else talks with it through this node. */
export function Connection(): JSX.Element {
  const asked = useAsk('diagnostics.get', {}, LOOK_MS);
  const { data } = asked;
  const ports = useAsk('mavlink.ports.get', {}, 5 * LOOK_MS);
  const link = data?.mavlink ?? null;
  const count = (name: string): string | null => {
    const value = link?.counters[name];
    return value === undefined ? null : name.endsWith('bytes') ? bytes(value) : number(value);
  };
  const age = link?.link_age_s ?? link?.heartbeat_age_s ?? null;
  return (
    <div class="page">
      <Card title={t.vehicle.link.source} icon={Cpu}>
        <Asked of={asked} />
        {data !== null && link === null ? <Note tone="bad">{t.vehicle.link.away}</Note> : null}
        {link === null ? null : (
          <>
            <p>
              <Badge tone={link.transport_open && age !== null && age <= 3 ? 'good' : 'bad'}>
                {!link.transport_open
                  ? t.vehicle.link.closed
                  : age === null
                    ? t.vehicle.link.silent
                    : age > 3
                      ? t.vehicle.link.lost({ age: span(age) })
                      : t.vehicle.link.alive}
              </Badge>
            </p>
            <dl class={`stats ${css['wide-stats']}`}>
              <Stat label={t.vehicle.link.configured} value={link.source} />
              <Stat
                label={t.vehicle.link.port}
                value={
                  link.fc_port === null
                    ? null
                    : link.fc_baud === null
                      ? link.fc_port
                      : t.vehicle.link.baud({ port: link.fc_port, baud: link.fc_baud })
                }
              />
            </dl>
            <dl class="stats">
              {COUNTERS.map((name) => (
                <Stat key={name} label={t.vehicle.link.counters[name]} value={count(name)} />
              ))}
            </dl>
          </>
        )}
      </Card>
      <Card title={t.vehicle.link.ports} icon={Usb}>
        <Asked
          of={ports}
          empty={(found) => (found.ports.length === 0 ? <EmptyState text={t.vehicle.link.noPorts} /> : null)}
        />
        <ul class={css['ports']}>
          {ports.data?.ports.map(({ path, description, by_id: byId }) => (
            <li key={path}>
              <strong>{path}</strong> {description}
              {byId == null ? null : <div class="hint">{byId}</div>}
            </li>
          ))}
        </ul>
      </Card>
      <Card wide title={t.vehicle.link.endpoints} icon={Laptop}>
        <p class="hint">{t.vehicle.link.endpointsHint}</p>
        {link?.endpoints?.map(({ name, open, problem, peers, peers_turned_away: away }) => (
          <section key={name} class={css['endpoint']}>
            <h3>
              {name}{' '}
              <Badge tone={open ? 'good' : 'bad'}>
                {open ? t.vehicle.link.open : t.vehicle.link.notOpen}
              </Badge>
            </h3>
            {problem === null ? null : <Note tone="bad">{problem}</Note>}
            {away === 0 ? null : <Note tone="warn">{t.vehicle.link.turnedAway({ count: away })}</Note>}
            {peers.length === 0 ? (
              <p class="hint">{t.vehicle.link.nobody}</p>
            ) : (
              <div class="scroll" tabIndex={0} role="region" aria-label={name}>
                <table>
                  <thead>
                    <tr>
                      <th>{t.vehicle.link.peer}</th>
                      <th class="number">{t.vehicle.link.got}</th>
                      <th class="number">{t.vehicle.link.lostFrames}</th>
                      <th class="number">{t.vehicle.link.sent}</th>
                      <th class="number">{t.vehicle.link.refused}</th>
                      <th class="number">{t.vehicle.link.seen}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {peers.map((peer) => (
                      <tr key={peer.name}>
                        <td>{peer.name}</td>
                        <td class="number">{number(peer.tx_frames)}</td>
                        <td class="number">{number(peer.tx_dropped + peer.rx_dropped)}</td>
                        <td class="number">{number(peer.rx_frames)}</td>
                        <td class="number">{number(peer.rx_refused)}</td>
                        <td class="number">{span(peer.last_seen_s)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </section>
        ))}
      </Card>
    </div>
  );
}

const COUNTERS = [
  'rx_frames',
  'rx_bytes',
  'rx_lost',
  'rx_bad_crc',
  'rx_kernel_dropped',
  'tx_frames',
  'tx_bytes',
  'reconnects',
] as const;
