import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  type Camera,
  groundResolution,
  heightFor,
  PRESETS,
  presetOf,
} from '../../../../../shared/mission/patterns/camera.ts';
import { withoutName } from '../../../../../shared/mission/patterns/new-pattern.ts';
import type { Orbit, PatternSettings } from '../../../../../shared/mission/patterns/settings.ts';
import { NumberInput } from './number-input.tsx';
import { Choice, Numbers, shown } from './pattern-fields.tsx';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';

const NONE = 'none';
const OWN = 'own';
const FIGURES = ['sensorWidth', 'sensorHeight', 'focal', 'imageWidth', 'imageHeight', 'minInterval'] as const;

/** Camera, height or resolution (each gives the other), overlaps; without a camera the distances themselves. */
export function CameraFields({
  settings,
  onChange,
}: {
  readonly settings: Exclude<PatternSettings, Orbit>;
  readonly onChange: (settings: PatternSettings) => void;
}): JSX.Element {
  const { camera, distance } = settings;
  const isStructure = settings.kind === 'structure';
  const [own, setOwn] = useState(false);
  const preset = camera === null || own ? null : presetOf(camera);
  const { away, height, resolution, surfaceResolution } = planWords.settings;
  /** Another camera keeps the resolution where that was what was asked for. */
  const take = (next: Camera | null): void => {
    const kept = camera !== null && next !== null && settings.byResolution;
    onChange({
      ...settings,
      camera: next,
      distance: kept ? heightFor(next, groundResolution(camera, distance)) : distance,
    });
  };
  return (
    <>
      <Choice
        label={planWords.settings.camera}
        value={camera === null ? NONE : (preset?.name ?? OWN)}
        options={[
          ...PRESETS.map(({ name }) => [name, name] as const),
          [OWN, planWords.settings.ownCamera],
          [NONE, planWords.settings.noCamera],
        ]}
        onChange={(id) => {
          const found = PRESETS.find(({ name }) => name === id);
          setOwn(id === OWN);
          if (id === NONE) take(null);
          else if (found !== undefined)
            take({ ...withoutName(found), landscape: camera?.landscape ?? found.landscape });
          else if (camera === null) take(OWN_CAMERA);
        }}
      />
      {camera !== null && preset === null ? (
        <div class={css['fields']}>
          {FIGURES.map((name) => (
            <NumberInput
              key={name}
              label={planWords.settings[name]}
              value={camera[name]}
              onChange={(value) => take({ ...camera, [name]: value })}
            />
          ))}
        </div>
      ) : null}
      <div class={css['fields']}>
        <NumberInput
          label={isStructure ? away : height}
          value={shown(distance)}
          onChange={(next) => onChange({ ...settings, distance: next, byResolution: false })}
        />
        {camera === null ? (
          <>
            <NumberInput
              label={isStructure ? planWords.settings.photoSpacing : planWords.settings.lineSpacing}
              value={shown(settings.sideStep)}
              onChange={(sideStep) => onChange({ ...settings, sideStep })}
            />
            <NumberInput
              label={isStructure ? planWords.settings.layerHeight : planWords.settings.photoSpacing}
              value={shown(settings.frontStep)}
              onChange={(frontStep) => onChange({ ...settings, frontStep })}
            />
          </>
        ) : (
          <>
            <NumberInput
              label={isStructure ? surfaceResolution : resolution}
              value={shown(groundResolution(camera, distance))}
              onChange={(next) =>
                onChange({ ...settings, distance: heightFor(camera, next), byResolution: true })
              }
            />
            <Numbers settings={settings} names={['frontOverlap', 'sideOverlap']} onChange={onChange} />
          </>
        )}
      </div>
      {camera === null ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={!camera.landscape}
            onChange={(event) => take({ ...camera, landscape: !event.currentTarget.checked })}
          />
          {planWords.settings.portrait}
        </label>
      )}
    </>
  );
}

/** Something to begin with: a small sensor of 12 megapixels. */
const OWN_CAMERA: Camera = {
  sensorWidth: 6.3,
  sensorHeight: 4.7,
  focal: 5,
  imageWidth: 4000,
  imageHeight: 3000,
  landscape: true,
  minInterval: 0,
};
