import { RadioTower } from 'lucide';
import type { JSX } from 'preact';
import type { RadioQuality } from '../../../../../shared/radio/quality.ts';
import type { Answer } from '../../api/rows.ts';
import { hrefOf } from '../../app/route.ts';
import { number, span } from '../../parts/format.ts';
import { Asked, Badge, Card, EmptyState, Note, Stat } from '../../parts/parts.tsx';
import type { AskState } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from '../node.module.css';

export type Radio = Answer<'wfb.get'>;

const TONES = { good: 'good', poor: 'warn', bad: 'bad', none: 'info' } as const satisfies Record<
  RadioQuality,
  string
>;

/** The colour of the link wherever it is shown. */
export function radioTone({ quality }: Pick<Radio, 'quality'>): (typeof TONES)[RadioQuality] {
  return TONES[quality];
}

/** How the link is, in words and figures, and what each antenna hears. */
export function RadioState({ radio }: { radio: AskState<Radio> }): JSX.Element {
  const { data } = radio;
  const text = t.node.radio;
  const figure = (value: number | null | undefined, digits = 0): string | null =>
    value === null || value === undefined ? null : number(value, digits);
  return (
    <Card
      title={text.title}
      icon={RadioTower}
      actions={
        data === null ? null : (
          <Badge tone={radioTone(data)}>
            {text.states[data.state]}
            {data.state === 'active' && radioTone(data) !== 'good'
              ? `, ${text.loses({ percent: number(data.loss_percent, 1) })}`
              : ''}
          </Badge>
        )
      }
    >
      <Asked of={radio} />
      {data === null ? null : (
        <>
          {data.state === 'absent' ? (
            <EmptyState icon={RadioTower} text={text.sentence.absent}>
              <a href={hrefOf('node', 'config')}>{t.node.tab.config}</a>
            </EmptyState>
          ) : (
            <p>{text.sentence[data.state]}</p>
          )}
          {data.diagnosis === null ? null : <Note tone="warn">{data.diagnosis.sentence}</Note>}
          {data.problem === null ? null : <Note tone="bad">{data.problem}</Note>}
          {data.camera_silent ? <Note tone="warn">{text.cameraSilent}</Note> : null}
          {data.state === 'absent' ? null : (
            <dl class="stats">
              <Stat label={text.rssi} value={figure(data.rssi_dbm)} unit="dBm" />
              <Stat label={text.snr} value={figure(data.snr_db)} unit="dB" />
              <Stat label={text.lossBefore} value={figure(data.loss_before_fec_percent, 1)} unit="%" />
              <Stat
                label={text.loss}
                value={figure(data.loss_percent, 1)}
                unit="%"
                tone={data.state === 'active' && radioTone(data) !== 'good' ? 'warn' : undefined}
              />
              <Stat label={text.recovered} value={figure(data.fec_recovered)} />
              <Stat label={text.bitrate} value={figure(data.bitrate_kbps)} unit="kbit/s" />
              <Stat
                label={text.fec}
                value={data.fec_k == null ? null : `${data.fec_k}/${number(data.fec_n)}`}
              />
              <Stat label={text.mcs} value={figure(data.mcs_index)} />
              <Stat label={text.channel} value={figure(data.channel)} />
              <Stat label={text.power} value={figure(data.tx_power_dbm)} unit="dBm" />
              <Stat
                label={text.silent}
                value={data.rx_silent_seconds == null ? null : span(data.rx_silent_seconds)}
              />
            </dl>
          )}
          <Antennas radio={data} />
        </>
      )}
    </Card>
  );
}

// What these cards hear: at -90 dBm nothing decodes any more, -30 dBm is beside the antenna.
const WEAKEST_DBM = -90;
const STRONGEST_DBM = -30;

function Antennas({ radio }: { radio: Radio }): JSX.Element | null {
  const text = t.node.radio;
  if (radio.antennas.length === 0) return null;
  const antennas = radio.antennas.toSorted((a, b) => a.card - b.card || a.antenna - b.antenna);
  return (
    <>
      <h3>{text.antennas}</h3>
      <ul class={css['antennas']}>
        {antennas.map(({ id, card, antenna, host, rssi_dbm: rssi, snr_db: snr, packets }) => (
          <li key={id}>
            <span>{text.antenna({ card, antenna, host: host ?? null })}</span>
            <meter
              min={WEAKEST_DBM}
              max={STRONGEST_DBM}
              low={-78}
              high={-65}
              optimum={STRONGEST_DBM}
              value={rssi}
              aria-label={text.antenna({ card, antenna, host: host ?? null })}
            />
            <span class={css['figures']}>
              {number(rssi)} dBm · {number(snr)} dB · {text.packets({ n: number(packets) })}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
