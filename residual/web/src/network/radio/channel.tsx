import { AudioWaveform } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { number } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, ErrorNote, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import type { Radio } from './radio-state.tsx';

type Survey = Answer<'wfb.survey.get'>;
type Changed = Answer<'wfb.channel.post'>;

/** Channel and power, with what is heard on each channel. */
export function Channel({ radio, onChange }: { radio: Radio; onChange: () => void }): JSX.Element {
  const [survey, setSurvey] = useState<Survey | null>(null);
  const [chosen, setChosen] = useState<string>('');
  const [changed, setChanged] = useState<Changed | null>(null);
  const looking = useAct();
  const act = useGuarded();
  const text = t.node.radio;
  const hop = (): void => {
    setChanged(null);
    void act.run(async (force) => {
      setChanged(await call('wfb.channel.post', { body: forced(force, { channel: Number(chosen) }) }));
      onChange();
    });
  };
  return (
    <Card title={text.channelTitle} icon={AudioWaveform}>
      <p>
        {text.onChannel({
          channel: number(radio.channel ?? radio.configured_channel),
          mhz: number(radio.frequency_mhz),
        })}
      </p>
      {may('wfb.channel.post') ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
          }}
        >
          <Field label={text.newChannel} hint={text.channelHint}>
            {(ids) => (
              <input
                {...ids}
                type="number"
                min={1}
                max={196}
                value={chosen}
                onInput={(event) => setChosen(event.currentTarget.value)}
              />
            )}
          </Field>
          <div class="row">
            <HoldButton busy={act.busy} why={chosen === '' ? text.chooseFirst : null} onConfirm={hop}>
              {act.busy ? text.hopping : text.hop}
            </HoldButton>
          </div>
        </form>
      ) : null}
      <GuardNote act={act} />
      {changed === null ? null : (
        <Note tone={changed.proved ? 'good' : 'warn'}>
          {changed.proved
            ? text.proved({ channel: changed.channel })
            : (changed.reason ?? text.notProved({ channel: changed.channel }))}
        </Note>
      )}
      <div class="row">
        <Button
          row="wfb.survey.get"
          busy={looking.busy}
          onClick={() => void looking.run(async () => setSurvey(await call('wfb.survey.get')))}
        >
          {looking.busy ? text.surveying : text.survey}
        </Button>
      </div>
      <ErrorNote error={looking.error} />
      {survey === null ? null : (
        <Evidence survey={survey} onChoose={(channel) => setChosen(String(channel))} />
      )}
      <Power radio={radio} onChange={onChange} />
    </Card>
  );
}

function Evidence({
  survey,
  onChoose,
}: {
  survey: Survey;
  onChoose: (channel: number) => void;
}): JSX.Element {
  const text = t.node.radio;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={text.survey}>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.channel}</th>
            <th scope="col" class="number">
              {text.frames}
            </th>
            <th scope="col" class="number">
              {text.noise}
            </th>
            <th scope="col">
              <span class="visually-hidden">{text.take}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {survey.channels.map(({ channel, frequency_mhz: mhz, allowed, frames, noise_dbm: noise, best }) => (
            <tr key={channel}>
              <th scope="row">
                {channel} <small>{mhz} MHz</small> {best ? <Badge tone="good">{text.best}</Badge> : null}
              </th>
              <td class="number">{number(frames)}</td>
              <td class="number">{number(noise)}</td>
              <td>
                {allowed ? (
                  <Button
                    row="wfb.channel.post"
                    aria-label={text.takeOne({ channel })}
                    onClick={() => onChoose(channel)}
                  >
                    {text.take}
                  </Button>
                ) : (
                  text.forbidden
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Power({ radio, onChange }: { radio: Radio; onChange: () => void }): JSX.Element | null {
  const act = useGuarded();
  const [set, setSet] = useState<Answer<'wfb.tx-power.put'> | null>(null);
  const text = t.node.radio;
  if (!may('wfb.tx-power.put')) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const dbm = Number(new FormData(event.currentTarget).get('dbm'));
        void act.run(async (force) => {
          setSet(await call('wfb.tx-power.put', { body: forced(force, { tx_power_dbm: dbm }) }));
          onChange();
        });
      }}
    >
      <Field label={text.powerSet}>
        {(ids) => (
          <input
            {...ids}
            name="dbm"
            type="number"
            min={1}
            max={30}
            required
            defaultValue={radio.tx_power_dbm ?? ''}
          />
        )}
      </Field>
      <Button type="submit" busy={act.busy}>
        {text.apply}
      </Button>
      <GuardNote act={act} />
      {set === null ? null : (
        <Note>{text.powerDone({ dbm: number(set.effective_dbm), most: number(set.tx_power_max_dbm) })}</Note>
      )}
    </form>
  );
}
