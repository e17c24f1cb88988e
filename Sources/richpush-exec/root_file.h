#pragma once

/* Opens a file as root does, and sends it on `channel`, for a server that gave up root's rights: this process, which may
 * change users, becomes root for its access to files (setfsuid).
 *
 * Only a file that none but root can have put at `path`, which is absolute: it, and each folder and each link on the
 * way to it, is root's, and nobody else may replace an entry of these folders. Otherwise somebody who has taken over the
 * server could have it read any file, by a link. */
void root_file_send(const char *path, int channel);
