import type { JSX } from 'preact';
import { forgetTrack } from '../../../api/flight.ts';
import { type Base, canDraw, chooseBase } from '../../../map/base.tsx';
import { choices, choose, isShown, LAYERS, type Layer, TRACK_COLOURS } from '../../../map/choices.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Segmented } from '../../../parts/form/segmented.tsx';
import { t } from '../../../strings.ts';
import css from './map.module.css';
import { ownTrouble } from './operator-layer.tsx';

/** What is on the map: the ground, the track's colours, what lies over it. */
export function LayerSheet({
  base,
  open,
  onClose,
}: {
  readonly base: Base;
  readonly open: boolean;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog sheet title={t.map.layers} open={open} onClose={onClose}>
      <div class={css['sheet']}>
        <Ground base={base} />
        <h3>{t.map.trackColour}</h3>
        <Segmented
          label={t.map.trackColour}
          options={TRACK_COLOURS.map((id) => ({ id, name: t.map.colours[id] }))}
          chosen={choices.value.track}
          onChoose={(track) => choose({ track })}
        />
        <fieldset>
          <legend>{t.map.shown}</legend>
          {LAYERS.map((layer) => (
            <Check
              key={layer}
              label={t.map.layer[layer]}
              on={isShown(layer)}
              onChange={(on) => show(layer, on)}
            />
          ))}
        </fieldset>
        <Check
          label={t.map.ownPlace}
          on={choices.value.ownPlace}
          onChange={(ownPlace) => choose({ ownPlace })}
        />
        <p class="hint">
          {isSecureContext ? (ownTrouble.value ?? t.map.ownPlaceHint) : t.map.ownPlaceInsecure}
        </p>
        <Button onClick={forgetTrack}>{t.map.clearTrack}</Button>
      </div>
    </Dialog>
  );
}

function Ground({ base: { options, chosen } }: { readonly base: Base }): JSX.Element {
  return (
    <fieldset>
      <legend>{t.map.base}</legend>
      {options.map(({ id, name }) => (
        <label key={id} class={css['choice']}>
          <input type="radio" name="map-base" checked={id === chosen.id} onChange={() => chooseBase(id)} />
          <span>{name}</span>
        </label>
      ))}
      {canDraw() ? null : <p class="hint">{t.map.noWebGl}</p>}
    </fieldset>
  );
}

function Check({
  label,
  on,
  onChange,
}: {
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}): JSX.Element {
  return (
    <label class={css['choice']}>
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function show(layer: Layer, on: boolean): void {
  const hidden = choices.peek().hidden.filter((each) => each !== layer);
  choose({ hidden: on ? hidden : [...hidden, layer] });
}
