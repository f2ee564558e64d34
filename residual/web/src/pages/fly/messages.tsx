import type { JSX } from 'preact';
import { fresh, newest } from '../../api/telemetry.ts';
import { moment, number, span } from '../../parts/format.ts';
import { Card } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './fly.module.css';

const SHOWN = 30;

/** What the vehicle says in words, newest first. */
export function Messages(): JSX.Element {
  const messages = (newest.value?.statustext ?? []).toReversed().slice(0, SHOWN);
  return (
    <Card title={t.fly.messages}>
      {messages.length === 0 ? <p class="hint">{t.fly.noMessages}</p> : null}
      {/* A person without a mouse scrolls it, too. */}
      <div class={css['messages']} role="log" aria-label={t.fly.messages} tabIndex={0}>
        <ul>
          {messages.map(({ at, severity, text }) => (
            <li key={`${at ?? ''}${text ?? ''}`} class={toneOf(severity ?? 6)}>
              <strong>{t.fly.severity[severity ?? 6] ?? ''}</strong> {text} <small>{moment(at)}</small>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function toneOf(severity: number): string {
  if (severity <= 3) return 'bad';
  return severity === 4 ? 'warn' : '';
}

/** Other aircraft that the vehicle hears, beside the map that shows them. */
export function Traffic(): JSX.Element | null {
  const traffic = fresh('traffic', (body) => body.traffic);
  if (traffic === null || traffic.vehicles.length === 0) return null;
  const { name, distance, height, age } = t.fly.trafficColumns;
  return (
    <Card title={t.fly.traffic}>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{name}</th>
              <th class="number">{distance}</th>
              <th class="number">{height}</th>
              <th class="number">{age}</th>
            </tr>
          </thead>
          <tbody>
            {traffic.vehicles.map((aircraft) => (
              <tr key={aircraft.icao}>
                <td>{aircraft.callsign ?? aircraft.icao}</td>
                <td class="number">{number(aircraft.distance_m)} m</td>
                <td class="number">{number(aircraft.alt_m)} m</td>
                <td class="number">{span(aircraft.age_s)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
