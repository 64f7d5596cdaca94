#include <coppice/coppice.hpp>

int main() {
    return 0;
}
