/**
 * The picture in a window of its own, for a second screen, where it can fill that: the same stream, so it costs the node nothing. Where
 * the browser opens none it floats over the others (picture in picture).
 */
export function popOut(video: HTMLVideoElement, title: string): void {
  const stream = video.srcObject instanceof MediaStream ? video.srcObject : captured(video);
  const opened = stream === null ? null : window.open('', 'svc-picture', 'popup,width=960,height=540');
  if (opened === null || stream === null) {
    if (document.pictureInPictureElement !== null) void document.exitPictureInPicture();
    // Refused where the picture has just gone: then there is nothing to be seen in it either.
    else void video.requestPictureInPicture?.().catch(() => undefined);
    return;
  }
  const { document: page } = opened;
  page.title = title;
  page.body.replaceChildren();
  const copy = page.createElement('video');
  copy.muted = true;
  copy.autoplay = true;
  copy.playsInline = true;
  copy.srcObject = stream;
  copy.setAttribute('aria-label', title);
  Object.assign(page.body.style, { margin: '0', background: '#000', height: '100vh' });
  Object.assign(copy.style, { width: '100%', height: '100%', objectFit: 'contain' });
  page.body.append(copy);
  void copy.play().catch(() => undefined); // its window was closed again
  // The stream ends with the page that has it; a new one, as after a break, goes to the same window.
  const follow = (): void => {
    if (opened.closed) return stop();
    const next = video.srcObject;
    if (next instanceof MediaStream && copy.srcObject !== next) copy.srcObject = next;
  };
  const close = (): void => opened.close();
  const stop = (): void => {
    video.removeEventListener('playing', follow);
    removeEventListener('pagehide', close);
  };
  video.addEventListener('playing', follow);
  addEventListener('pagehide', close);
}

/** Of a film that is no stream, where the browser makes one of it. */
function captured(video: HTMLVideoElement & { captureStream?: () => MediaStream }): MediaStream | null {
  return video.captureStream?.() ?? null;
}
