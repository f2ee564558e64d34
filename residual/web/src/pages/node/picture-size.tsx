import { Scaling } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Body } from '../../api/rows.ts';
import { Asked, Card, EmptyState, ErrorNote, Segmented } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const EVERY_MS = 3000;
const PROFILES = ['hero', 'thumbnail'] as const;

/** How large the encoded picture is, and who asked for another size. */
export function PictureSize(): JSX.Element {
  const asked = useAsk('video.profile.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const act = useAct();
  const text = t.node.video;
  const choose = (profile: (typeof PROFILES)[number]): void => {
    void act.run(async () => {
      await call('video.profile.post', { body: { profile } as Body<'video.profile.post'> });
      reload();
    });
  };
  return (
    <Card title={text.profile} icon={Scaling}>
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data === null ? null : (
        <>
          {may('video.profile.post') ? (
            <Segmented
              label={text.base}
              options={PROFILES.map((id) => ({ id, name: text.profiles[id] }))}
              chosen={data.base_profile}
              onChoose={choose}
            />
          ) : null}
          <p>
            {text.picture({ width: data.width, height: data.height, fps: data.fps, kbps: data.bitrate_kbps })}
          </p>
          {data.leases.map(({ holder, profile, lease_s: seconds }) => (
            <p key={holder}>{text.lease({ holder, profile, seconds })}</p>
          ))}
          {data.leases.length === 0 ? <EmptyState text={text.noLease} /> : null}
        </>
      )}
    </Card>
  );
}
